"""What a statement is about: the words that name its memory and find it again."""

# ruff: noqa: RUF001 - Chinese punctuation is what is read here.

from __future__ import annotations

import hashlib
import re
from typing import Final

from memoryd.extraction.dates import CHINESE_DATE, ENGLISH_DATE
from memoryd.extraction.fingerprint import words
from memoryd.recall.analysis import STOP_WORDS

_LONGEST: Final = 5  # words of a name
_TOKEN: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[-_'.][A-Za-z0-9]+)*|\d+(?:\.\d+)*")
_HAN: Final = re.compile(r"[\u3400-\u9fff]+")
_URL: Final = re.compile(r"https?://\S+")

_VERB: Final = re.compile(
    r"\b(?:is|are|was|were|lives?|runs?|listens?|uses?|needs?|requires?|has|have|must|should|"
    r"cannot|"
    r"can't|can|will|goes|go|happens?|belongs?|points?|takes?|returns?|expects?|starts?|"
    r"begins?|ends?|"
    r"moved|moves|migrated|switched|changed|slipped|postponed|renamed|sits?|resides?|comes?|"
    r"gets?|supports?|depends?|breaks?|fails?|"
    r"deploys|tracks|owns|stays?|works|closes|opens|ships|rotates?|expires?|said)\b|"
    r"[:=]\s|(?:是|在|用|使用|监听|位于|为|到|迁移|搬|改|换|需要|必须|应该|由|归|放|走|跑|每)",
    re.IGNORECASE,
)
_MOVED: Final = re.compile(
    r"\b(?:moved|migrated|switched|changed)\s+(.+?)\s+(?:(?:over|back)\s+)?(?:from\s.+\s)?to\s",
    re.IGNORECASE,
)
_DATE: Final = re.compile(
    rf"(?<![\w-]){ENGLISH_DATE}(?![\w-])|{CHINESE_DATE}|\((?:[a-z]+day|night|morning|evening)\)",
    re.IGNORECASE,
)
_ATTRIBUTES: Final = {
    "port": "port", "url": "url", "host": "host", "hostname": "host", "branch": "branch",
    "version": "version", "region": "region", "bucket": "bucket", "owner": "owner",
    "owned": "owner", "schedule": "schedule", "timezone": "timezone", "channel": "channel",
    "端口": "port", "地址": "url", "分支": "branch", "版本": "version", "区域": "region",
    "负责人": "owner",
}  # fmt: skip
_WEAK: Final = frozenset((
    "actually", "after", "agreed", "already", "always", "ask", "asked", "asking", "before",
    "chose", "codebase", "current", "currently", "decided", "default", "dislike", "dislikes",
    "based", "every", "everything", "forward", "future", "going", "hate", "hates", "instead",
    "keep", "like", "likes", "located", "love", "loves", "never", "new", "old", "only",
    "person", "please", "prefer", "prefers", "project", "repo", "repository", "settled", "still",
    "stop", "sure", "team", "thing", "unless", "user", "without",
))  # fmt: skip

_ENGLISH_FOR: Final = {
    "数据库": "database", "测试": "tests", "部署": "deploy", "端口": "port", "发布": "release",
    "说明": "notes", "提交": "commit", "信息": "message", "注释": "comments", "分支": "branch",
    "监控": "monitoring", "文档": "docs", "缩进": "indentation", "仪表盘": "dashboard",
    "看板": "board", "面板": "dashboard", "工单": "tickets", "缺陷": "bugs", "日志": "logs",
    "手册": "handbook", "设计稿": "design", "预发布": "staging", "预发": "staging",
    "生产": "production", "线上": "production", "环境": "environment", "接口": "api",
    "前端": "frontend", "后端": "backend", "服务器": "server", "服务": "service",
    "配置": "config", "中文": "chinese", "英文": "english", "回答": "answers", "回复": "answers",
    "代码": "code", "函数": "functions", "变量": "variables", "命名": "naming",
    "依赖": "dependencies", "安装": "install", "构建": "build", "上线": "launch",
    "截止": "deadline", "版本": "version", "评审": "review", "合并": "merge", "主干": "trunk",
    "密码": "password", "缓存": "cache", "队列": "queue", "任务": "tasks", "需求": "requirements",
    "迁移": "migration", "备份": "backup", "类型": "types", "格式": "format", "风格": "style",
    "邮件": "mail", "会议": "meeting", "演示": "demo", "冻结": "freeze", "仓库": "repository",
    "地址": "address", "推送": "push", "强制": "force", "生成": "generated", "文件": "files",
    "目录": "directory", "模拟": "mock", "表格": "tables", "表情": "emoji", "日期": "date",
    "时间": "time", "周报": "weekly-report", "组件": "components", "脚本": "scripts",
    "框架": "framework", "客户": "customer", "团队": "team", "订单": "orders", "金额": "amounts",
    "单位": "unit", "合规": "compliance", "法务": "legal", "数据": "data",
    "手机号": "phone-numbers", "故障": "incident", "事故": "incident", "证书": "certificate",
    "目标": "goal", "重点": "focus", "季度": "quarter", "支付": "payment", "回调": "callback",
    "网关": "gateway", "内网": "intranet", "权限": "permissions", "登录": "login",
    "导出": "export", "导入": "import", "报表": "reports", "索引": "index", "集群": "cluster",
    "窗口": "window", "发版": "release", "负责人": "owner", "审计": "audit", "安全": "security",
    "价格": "prices", "货币": "currency", "时区": "timezone", "语言": "language",
    "订阅": "subscription", "账号": "accounts", "租户": "tenants", "流程": "process",
    "规范": "conventions", "约定": "conventions", "标题": "titles", "异常": "exceptions",
    "单体": "monolith", "架构": "architecture", "连接池": "connection-pool", "内存": "memory",
    "旧系统": "legacy-system", "设备": "devices", "硬件": "hardware", "算法": "algorithms",
    "模型": "models", "消息": "messages",
}  # fmt: skip
_HAN_WORDS: Final = re.compile(
    "|".join(sorted(map(re.escape, _ENGLISH_FOR), key=len, reverse=True))
)


_TITLE: Final = 60  # characters
_AGAINST: Final = re.compile(
    r"(?:never|don'?t|do not|no|not|stop|avoid|you (?:don'?t|do not)|the user never)\b|"
    r"(?:不要|不得|不能|不许|别|永远不|禁止|严禁|绝不)",
    re.IGNORECASE,
)
_SPELLED: Final = {
    "ci": "CI", "api": "API", "js": "JS", "url": "URL", "sql": "SQL", "utc": "UTC", "pr": "PR",
    "prs": "PRs", "ui": "UI", "qa": "QA", "css": "CSS", "html": "HTML", "vpn": "VPN", "os": "OS",
    "chinese": "Chinese", "english": "English",
}  # fmt: skip


def topic(statement: str) -> tuple[str, ...]:
    """Return the words of what a statement is about, as written, lower case, at most five.

    That is what stands before its verb and the attribute it gives ("the staging database listens
    on port 6543" is about the staging database port); an order is about all it names.
    """
    statement = _DATE.sub(" ", _URL.sub(" ", statement))
    found = _VERB.search(statement)
    head = statement[: found.start()] if found else statement
    chosen = list(dict.fromkeys(_plain(head)))
    if found and not chosen:
        moved = _MOVED.search(statement)
        chosen = list(dict.fromkeys(_plain(moved[1] if moved else statement)))
    rest = statement.lower()
    for word, attribute in _ATTRIBUTES.items():
        present = word in rest if _HAN.search(word) else re.search(rf"\b{word}\b", rest)
        if present and attribute not in chosen:
            chosen = [*chosen[: _LONGEST - 1], attribute]
            break
    return tuple(chosen[:_LONGEST])


def order(statement: str) -> tuple[str, ...]:
    """Return the words of what a rule is about: all that it names, at most five."""
    return tuple(dict.fromkeys(_plain(_DATE.sub(" ", _URL.sub(" ", statement)))))[:_LONGEST]


def kebab(chosen: tuple[str, ...], *, statement: str = "", prefix: str = "") -> str:
    """Return a memory's name for the words of its subject.

    Where no word has Latin letters the name ends in a short hash of the statement's words.
    """
    name = re.sub(r"[^a-z0-9]+", "-", "-".join(chosen).lower()).strip("-")
    if not name or not re.search(r"[a-z]{2}", name):
        digest = hashlib.blake2s(
            " ".join(sorted(words(statement))).encode(), digest_size=3
        ).hexdigest()
        name = "-".join(part for part in (name, digest) if part)
    if prefix and not name.startswith(prefix):
        name = f"{prefix}-{name}"
    return name[:64].strip("-")


def title(name: str, fact: str = "") -> str:
    """Return a title for a memory's name, its words spelled as in the fact it states.

    A name that ends in a hash, because no word of the fact could be translated, gives the fact.
    """
    if re.fullmatch(r"(?:\d+-)*[0-9a-f]{6}", name) and _HAN.search(fact):
        return re.split(r"[，,。；;：:]", fact, maxsplit=1)[0][:30]
    if _AGAINST.match(fact):  # Without its "never" the title would say the opposite.
        line = fact.rstrip(".。")
        if len(line) <= _TITLE:
            return line
        return line[: _TITLE - 1].rpartition(" ")[0].rstrip(",;: ") + "…"
    spelled = {word.lower(): word for word in _TOKEN.findall(fact) if not word.islower()}
    spaced = re.sub(r"(?<=\b\d)-(?=\d{1,3}\b)", ".", name)  # A version: release-2-4.
    spaced = re.sub(r"[-_]+", " ", spaced).strip()
    shown = " ".join(
        _SPELLED.get(word) or (spelled.get(word, word) if number else word.capitalize())
        if spelled.get(word, word)[1:].islower() or word not in spelled
        else spelled[word]
        for number, word in enumerate(spaced.split())
    )
    return (shown[:1].upper() + shown[1:])[:60] or name[:60]


def _plain(text: str) -> list[str]:
    """Return the words that carry a subject, Chinese ones translated where known."""
    found: list[str] = []
    position = 0
    for run in _HAN.finditer(text):
        found += _latin(text[position : run.start()])
        found += [_ENGLISH_FOR[word] for word in _HAN_WORDS.findall(run[0])]
        position = run.end()
    return [*found, *_latin(text[position:])]


def _latin(text: str) -> list[str]:
    """Return the words in Latin letters and the numbers, without those that say nothing."""
    lowered = (token.lower().replace("\u2019", "'") for token in _TOKEN.findall(text))
    return [
        token
        for token in lowered
        if not {token, token.partition("'")[0]} & (STOP_WORDS | _WEAK) and not token.endswith("n't")
    ]
