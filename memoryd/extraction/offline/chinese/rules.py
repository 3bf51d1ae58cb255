"""Ways of working: from now on, always, never, one thing instead of another."""

# ruff: noqa: RUF001 - Chinese punctuation is what is read here.

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from memoryd.extraction import kinds
from memoryd.extraction.offline import claims
from memoryd.extraction.offline.chinese.phrases import THING, points
from memoryd.extraction.offline.claims import Claim
from memoryd.extraction.operations import MemoryType

_I: Final = re.IGNORECASE

_FROM_NOW: Final = re.compile(
    r"^(?:从现在(?:开始|起)|从今(?:以后|往后)|从此(?:以后)?|今后|以后(?![端台期面])|往后|将来|"
    r"下次(?:开始|"
    r"起)?)[，,：:\s]*(?P<fact>.+)$"
)
_LATER: Final = re.compile(
    r"^(?:再|会|可能|有空|有时间|可以|考虑|想|也许|或许|慢慢|我们?(?:再|会|可能|可以|想|打算)|的|"
    r"还|看|说|遇到再)"
)
_ALWAYS: Final = re.compile(
    r"^(?:我们|你|大家)?(?P<rule>(?:每次|永远不?要?|始终|总是|一律|千万不要|千万别|绝对?不要|"
    r"绝不|严禁|禁止|务必每次|不要再|别再|不允许|"
    r"不准).{2,})$"
)
_EVERY: Final = re.compile(r"^(?P<what>.{2,12}?)(?:一律|统一|始终)(?P<how>.{2,})$")
_DONT: Final = re.compile(r"^(?:请)?(?P<rule>(?:不要|别|不得|不能).{3,})$")
_AT_WORK: Final = re.compile(
    r"^(?:我?(?:写|改|做|加|跑|提交|部署|合并|发布|命名|重构|回答|回复|解释|设计|新增))"
    r"(?!.{0,12}(?:这|那|该)).{0,10}?(?:的时候|时)[，,]?\s*"
    r"(?:都?要|都|不要|别|先|请|必须|务必|一律|尽量|只|用).{2,}$"
)
_ANSWERS: Final = re.compile(
    r"^(?:请|都|尽量|一律|以后|你)*用(?:中文|英文|英语|日语|汉语)(?:跟我|和我|与我)(?:说|聊|交流|"
    r"沟通|讲)?.{0,4}$|"
    r"^(?:跟我|和我|对我|给我)(?:交流|沟通|说话|回复|解释)(?:时|的时候)?(?:请|都|尽量|一律|"
    r"要)*用(?:中文|英文|英语).{0,4}$"
)
_PERSON: Final = re.compile(r"我(?!们)|你|他")
# "Each time it fails", "always times out": what happens, not what to do.
_REPORT: Final = re.compile(
    r"(?:总是|始终)(?:报|失败|出|返回|显示|是|不|卡|超时)|"
    r"每次(?!.*(?:都(?:要|得|先|用|跑)|一律|必须|不要|务必|请|记得|先))"
)
_SCOPE: Final = re.compile(
    r"在(?:代码|注释|提交信息|提交说明|提交|文档|测试|回答|回复|生产环境|线上|主分支|项目|仓库|"
    r"PR|commit)(?:信息)?(?:里|中|上)?|未经|"
    r"没有?经过|除非|(?:直接)?(?:推送?|提交|合并)到\s*(?:主分支|主干|main|master|生产)|强推",
    _I,
)
_ONCE: Final = re.compile(r"^(?:不要|别)再?(?:试|问|改|跑|等|说|查|找|动|管|看|猜|弄|搞|担心|忘)")
CONTRAST: Final = re.compile(
    r"^(?:我们|大家|请|你|应该|应|要|都|现在|只|一直|统一|团队|项目|里|以后|，|,|\s)*(?:改用|"
    r"使用|采用|用的?是|用|"
    rf"选)\s*{THING.format('new')}\s*(?:[，,、;；\s]*(?:而)?(?:不要再?用|别再?用|不再?用|"
    r"不再?使用|不是用?|不用)|"
    rf"来?(?:代替|替代|替换|取代))\s*{THING.format('old')}(?:了)?(?P<tail>$|[，,。（(\s].*)",
    _I,
)
_TURNED: Final = re.compile(
    rf"^(?:我们|请|你|，|,|\s)*(?:不要再?用|别再?用|不再?用|不是用?|不再使用|"
    rf"不用)\s*{THING.format('old')}\s*(?:了)?[，,；;。\s]+(?:我们|请|要|应该|而是|现在|都|已经|"
    r"早就|早|\s)*(?:改用|使用|采用|"
    rf"用|是|改成|改回|换回|换成了?)\s*{THING.format('new')}(?:了)?(?P<tail>$|[，,。（(\s].*)",
    _I,
)


def from_now_on(text: str, _correcting: bool) -> Claim | None:
    """Read a rule that holds from now on."""
    found = _FROM_NOW.match(text)
    if not found or _LATER.match(found["fact"]) or points(found["fact"]):
        return None
    return claims.rule(found["fact"], asked=True)


def always(text: str, _correcting: bool) -> Claim | None:
    """Read a rule that holds always or never."""
    found = _ALWAYS.match(text)
    if found:
        stands = not _ONCE.match(found["rule"]) and not _REPORT.match(found["rule"])
    else:
        found = _EVERY.match(text)
        stands = found is not None and not _PERSON.search(found["what"])
    if not stands or points(text) or claims.about_product(text):
        return None
    return claims.rule(text)


def at_work(text: str, _correcting: bool) -> Claim | None:
    """Read a rule for a kind of work ("when writing tests, …") or for how to talk to the person."""
    found = _AT_WORK.match(text) or _ANSWERS.match(text)
    if not found or points(text) or claims.about_product(text):
        return None
    return claims.rule(text)


def dont(text: str, _correcting: bool) -> Claim | None:
    """Read a prohibition meant to stand, not one for the task in hand."""
    found = _DONT.match(text)
    if not found or _ONCE.match(found["rule"]) or points(found["rule"]):
        return None
    if not _SCOPE.search(found["rule"]) or claims.about_product(found["rule"]):
        return None
    return claims.rule(found["rule"])


def contrast(text: str, _correcting: bool) -> Claim | None:
    """Read "use X, not Y" in either order."""
    found = CONTRAST.match(text) or _TURNED.match(text)
    if not found or points(text):
        return None
    known = kinds.shared(found["new"], found["old"])
    if claims.about_product(text if known is None else text[: found.start("tail")]):
        return None
    ours = re.match(r"(?:.*?)(?:我们|团队|大家|统一|都)", text) is not None
    if known is None and not ours:
        return None
    switched = re.search(r"换成|迁移|早就|已经不", text) is not None
    claim = claims.rule(text, kind=MemoryType.PROJECT if switched else MemoryType.FEEDBACK)
    return replace(claim, corrects=True, subject=(known,) if known else ())
