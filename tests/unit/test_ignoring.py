"""A person says "ignore memory" and takes it back; talk about the machine's memory is neither."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memoryd.extraction.offline.provider import propose
from memoryd.extraction.operations import ExtractionInput
from memoryd.recall.ignoring import Wish, wish

from support.extraction import TUESDAY, turn

IGNORE = [
    "ignore memory",
    "Ignore memory.",
    "IGNORE MEMORY",
    "Please ignore memory for now",
    "ignore the memory",
    "ignore all memory",
    "ignore your memory",
    "Ignore your memories, please.",
    "ignore all of your memories for this task",
    "Disregard your memory",
    "don't use your memory",
    "Don\u2019t use memory for this",
    "do not use memory in this session",
    "Do not rely on your memory here.",
    "stop using your memory",
    "Stop using memory",
    "Can you ignore your memory?",
    "could you please ignore memory for this task?",
    "From now on, ignore memory.",
    "for this session ignore your memory",
    "I want you to ignore your memories.",
    "I'd like you to ignore memory until I say otherwise",
    "ignore MEMORY.md",
    "Don't read MEMORY.md for this task",
    "ignore the memory files",
    "ignore saved memories",
    "Ignore everything in your memory and look at the code.",
    "ignore your memory and answer from the code alone",
    "ignore memory and answer from scratch",
    "Fix the login form, but ignore your memory",
    "Let's start over. Ignore memory. What does src/app.py do?",
    "ignore memory\n\nWhat is the deploy command?",
    "Two things:\n- ignore your memory\n- list the routes",
    "Answer without using memory",
    "Answer this without your memory, please",
    "Tell me how the cache works without consulting your memories",
    "act as if you had no memory",
    "Proceed as if MEMORY.md were empty.",
    "pretend you have no memories",
    "turn off your memory",
    "switch memory off for this session",
    "disable your memory",
    "ok claude, now ignore memory please",
    "from now on never use your memory",
    "always ignore your memory",
    "remember to ignore your memory",
    "Never use memory in this project",
    "don't ignore memory leaks, but ignore your memory",
    "use your memory again... no, ignore memory",
    "忽略记忆",
    "请忽略你的记忆",
    "请忽略所有记忆。",
    "不要使用记忆",
    "不要再用你的记忆了",
    "别用记忆",
    "这次不要参考之前的记忆，直接看代码",
    "忽略记忆，重新分析这个问题",
    "接下来请无视你的记忆",
    "请不要依赖记忆来回答",
    "請忽略記憶",
    "把记忆关掉",
    "回答时不要看记忆",
    "暂时关闭记忆功能",
    "以后不要使用记忆",
]

USE = [
    "use your memory again",
    "Use memory again.",
    "Please use your memories again from now on",
    "you can use your memory again",
    "You may use memory again now.",
    "use your memory",
    "stop ignoring memory",
    "Stop ignoring your memory, please",
    "don't ignore memory anymore",
    "Don't ignore your memory any longer.",
    "no longer ignore memory",
    "You don't have to ignore memory any more.",
    "turn memory back on",
    "turn your memory on again",
    "switch your memory back on",
    "re-enable your memory",
    "resume using your memory",
    "go back to using your memory",
    "Start using your memory again",
    "memory is fine again",
    "consult your memory again and tell me how we deploy",
    "Ignore memory. Actually no, use your memory again.",
    "ok, use MEMORY.md again",
    "重新使用记忆",
    "请重新使用你的记忆。",
    "恢复记忆",
    "可以使用记忆了",
    "不要再忽略记忆了",
    "别忽略你的记忆",
    "继续使用记忆",
    "把记忆打开",
    "記憶可以用了",
]

NEITHER = [
    "",
    "thanks",
    "don't ignore memory leaks",
    "Don't ignore memory leaks in the worker.",
    "ignore memory errors in the test",
    "ignore memory leaks reported by valgrind",
    "Ignore memory usage, look at the CPU",
    "ignore memory and CPU usage",
    "ignore memory, CPU and disk metrics in the dashboard",
    "Please ignore memory warnings for now",
    "ignore memory limits in docker-compose.yml",
    "The linter should ignore memory addresses",
    "how do I make valgrind ignore memory that is still reachable?",
    "How do I tell it to ignore memory?",
    'what does "ignore memory" do?',
    "What happens when I say 'ignore memory'?",
    "Write a test for the phrase `ignore memory`",
    "add a flag --ignore-memory to the CLI",
    "```\nignore memory\n```",
    "> ignore memory\n\nwhat did he mean by that?",
    "The user typed: \u201cignore memory\u201d. Handle that.",
    "we ran out of memory, ignore it",
    "the server uses too much memory",
    "use less memory",
    "use the memory efficiently",
    "use memory mapped files",
    "use your memory profiler again",
    "turn off memory overcommit",
    "disable memory compression",
    "disable the memory cache in tests",
    "stop using memory-mapped IO",
    "stop the job from using memory",
    "does it ignore memory when sorting?",
    "Why did you ignore your memory?",
    "You ignored my memory of last week's outage.",
    "If I say ignore memory, what changes?",
    "the garbage collector must not ignore memory held by closures",
    "ignore the memory test for now",
    "ignore memory_test.py",
    "ignore the memory directory in .gitignore and rebuild",
    "ignore memory files in the backup script",
    "Please don't use memory allocation in the hot loop",
    "don't use memory barriers here",
    "answer without running out of memory",
    "Rename ignore_memory to skip_memory",
    "remember to free the memory",
    "forget the memory limit",
    "my memory of this is bad, look it up again",
    "read the memory map again",
    "re-enable memory protection",
    "what is in your memory?",
    "do you have a memory of the deploy command?",
    "the docs say: ignore memory is a phrase that people type",
    "he told me to ignore memory of the old API",
    "memory is fine, the CPU is the problem",
    "memory is back to 200 MB",
    "忽略内存错误",
    "忽略记忆化缓存的测试",
    "不要忽略内存泄漏",
    "忽略记忆功能的测试用例",
    "如何忽略记忆？",
    "“忽略记忆”是什么意思？",
    "记忆功能是怎么实现的",
    "他说不要使用记忆是什么意思",
    "这个函数会不会忽略记忆",
    "把内存关掉",
    "使用记忆化来优化递归",
    "减少内存使用",
    "请忽略 memory leak 警告",
    "恢复记忆卡里的照片",
]


@pytest.mark.parametrize("prompt", IGNORE)
def test_it_is_to_be_ignored(prompt: str) -> None:
    assert wish(prompt) is Wish.IGNORE


@pytest.mark.parametrize("prompt", USE)
def test_it_may_be_used_again(prompt: str) -> None:
    assert wish(prompt) is Wish.USE


@pytest.mark.parametrize("prompt", NEITHER)
def test_it_is_about_something_else(prompt: str) -> None:
    assert wish(prompt) is None


@pytest.mark.parametrize("prompt", [*IGNORE, *USE])
def test_nothing_is_learned_from_it(prompt: str) -> None:
    """What a person wants in one session is no rule for the others."""
    asked = ExtractionInput(turns=(turn(prompt),), memories=(), tombstones=(), today=TUESDAY)
    assert propose(asked) == []


@settings(deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_understood(prompt: str) -> None:
    wish(prompt + " memory 记忆 " + prompt)


def test_a_long_prompt_takes_no_long_look() -> None:
    """The patterns do not multiply: a pathological prompt ends within the test's own limit."""
    wish("ignore your " * 50_000 + "memory")
    wish("please " * 50_000 + "ignore memory " * 50_000)
    wish("answer " + "and so " * 50_000 + "without memory")
