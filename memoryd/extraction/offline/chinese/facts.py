"""Facts of a person and a project: changes, roles, preferences, deadlines, places, decisions."""

# ruff: noqa: RUF001 - Chinese punctuation is what is read here.

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from memoryd.extraction import kinds, subjects
from memoryd.extraction.dates import CHINESE_DATE
from memoryd.extraction.offline import claims
from memoryd.extraction.offline.chinese.phrases import THING, points
from memoryd.extraction.offline.claims import Claim
from memoryd.extraction.operations import MemoryType

_I: Final = re.IGNORECASE

_SWITCHED: Final = re.compile(
    rf"^(?:我们|团队|公司|项目)(?:已经|现在|早就|刚刚?|全部|都|上周|昨天|今天|\s)*(?P<what>(?:把|"
    rf"将)?.{{0,12}}?)(?:已经)?(?:从\s*{THING.format('old')}\s*)?(?:迁移|搬|换|改|切换|转|迁|"
    r"升级|移|调整)(?:到|"
    rf"成|为|用|至)(?:了)?\s*(?P<new>.{{1,40}}?)(?:了)?$",
    _I,
)
_THING_SWITCHED: Final = re.compile(
    r"^(?P<what>.{2,16}?)(?:已经|现在|都|昨天|今天|上周|早就)*(?:从.{1,20}?)?(?:迁移|搬|换|改|"
    r"切换|转|迁|移|调整|推迟|提前|"
    r"延期)(?:到|成|为|用|至)(?:了)?\s*(?P<new>.{1,40}?)(?:了)?$"
)
_USE_KNOWN: Final = re.compile(
    rf"^(?:我们|大家|团队|项目)?(?:都|现在|一直|统一|已经|\s)*改用\s*{THING.format('new')}(?:了)?$",
    _I,
)
_NOW_IS: Final = re.compile(
    r"^(?P<what>.{2,16}?)(?:现在|目前|已经|应该)*(?:是|在|用|为|"
    r"监听)\s*(?P<new>.{1,40}?)(?P<not>[，,、]\s*(?:而)?不是\s*(?P<old>.{1,30}))?(?:了)?$"
)
_ROLE: Final = (
    r"工程师|开发者?|程序员|设计师|产品经理|项目经理|经理|负责人|架构师|学生|研究员|分析师|运维|"
    r"测试|前端|后端|科学家|老师|教师|教授|医生|律师|"
    r"新手|初学者|创始人|实习生|顾问|组长|主管|总监|管理员|维护者|技术总监|博士生|硕士生|研究生|"
    r"DBA|CTO|CEO|SRE|PM|QA"
)
_I_AM: Final = re.compile(
    r"^我(?:目前|现在|主要)?是(?P<role>(?:一名|一个|一位|"
    rf"个)?.{{0,20}}?(?:{_ROLE})(?P<rest>.{{0,20}}))$",
    _I,
)
_MY: Final = re.compile(
    r"^我的(?P<what>角色|职位|岗位|工作|名字|时区|母语|背景|团队)(?P<rest>是.{1,40})$"
)
_I_DO: Final = re.compile(
    r"^我(?P<verb>(?:主要|目前|现在|平时)?(?:负责|从事|任职于|在.{2,15}(?:工作|上班)|不会|"
    r"没(?:有)?(?:用|学|写)过|刚(?:开始|"
    r"接触|学)|不太?熟悉|不太?懂|不太会|是?第一次(?:用|写|接触|做)|"
    r"主要写|一般写|写(?:了|过).{1,4}年|(?:用|在|拿)\s*(?:mac|macos|windows|linux|ubuntu|wsl)\b|"
    r"熟悉|做了?.{1,6}年).{0,40})$|"
    r"^我(?P<verb2>(?:人)?在[\u3400-\u9fff]{2,4}[，,]\s*(?:平时|主要|一般|日常).{2,30}|"
    r"(?:英语|英文|数学|前端|后端|算法|基础)(?:水平)?(?:一般|不太?好|很差|比较弱|薄弱).{0,40})$",
    re.IGNORECASE,
)
_PREFER: Final = re.compile(
    r"^我(?:比较|更|一直|平时|还是|一般|通常|特别|非常|很)*(?P<verb>喜欢|偏好|习惯|倾向于?|"
    r"不喜欢|讨厌|偏爱)(?P<what>.{2,60})$"
)
_A_CHOICE: Final = re.compile(
    r"^(?:这|那|第[一二三四\d]|方案|选项|它|你|[A-D1-9](?:\b|方案)|前者|后者|上面)"
)
_DUE: Final = re.compile(
    rf"^(?P<what>.{{0,20}}?(?:截止(?:日期|时间)?|发布|上线|交付|评审|演示|冻结|封版|里程碑|验收|"
    r"提测|版本|deadline|release|"
    r"demo|大版本|内测|公测|审计|迁移)(?:日期|时间|日)?)\s*(?:是|定在|改到|推迟到|提前到|安排在|"
    r"计划在|预计|于|在|要在|必须在|将在|为|"
    rf"[:：])?\s*({CHINESE_DATE})(?P<rest>.{{0,30}})$|"
    rf"^(?P<what2>.{{2,20}}?)(?:定在|必须在|要在|将在|计划在|预计在|预计|要|得|会|将|于|"
    rf"在)?\s*({CHINESE_DATE})(?:之?前|"
    rf"当天|早上|晚上|下午|上午)?(?:就|要|会|必须)?(?:截止|发布|上线|交付|到期|冻结|封版|提测|验收|"
    rf"完成交付)(?P<rest2>[^了吗]{{0,20}})$|"
    rf"^(?P<what3>{CHINESE_DATE}(?:之?前)?(?:就|要|得|必须|需要|会|将)+(?:给.{{1,8}}?|"
    rf"向.{{1,8}}?|正式|全量)?(?:演示|上线|发布|交付|验收|评审|"
    rf"提测|封版|冻结|汇报|审计))(?P<rest3>.{{0,30}})$",
    _I,
)
_PLACE: Final = (
    r"(?:仪表盘|看板|监控|面板|文档|wiki|工单|缺陷|bugs?|任务|runbook|手册|设计稿|日志|频道|需求|"
    r"原型|问题跟踪|知识库|告警|值班表|"
    r"dashboard|接口文档|测试环境|预发环境|后台|路线图|issues?|tickets?)"
)
_WHERE: Final = re.compile(
    rf"^(?P<what>(?:我们的?|项目的?|团队的?)?.{{0,16}}?{_PLACE}.{{0,6}}?)(?:的?地址|的?链接|"
    r"的?网址)?(?:都|记录|放|"
    rf"现在|一般|统一)*(?:在|是|看|位于|放在|记在|[:：])\s*(?P<where>.+)$",
    _I,
)
_SITE: Final = re.compile(
    r"https?://\S+|\b(?:jira|linear|confluence|notion|grafana|datadog|kibana|sentry|slack|"
    r"figma|gitlab|trello)\b|飞书|钉钉|语雀|企业微信|腾讯文档|石墨|禅道|蓝湖",
    _I,
)
_PASSING: Final = re.compile(r"/(?:pull|merge_requests|commit|blob|issues)/\w+")
_DECIDED: Final = re.compile(
    r"^(?:我们|团队|公司|项目组|大家|会上|客户)(?:团队|组|部门)?(?:已经|最终|刚刚?|一致|都|"
    r"\s)*(?:决定|商定|敲定|约定|同意|定下来|"
    r"确定)(?:了)?[：:，,]?(?P<what>.{3,})$"
)


_DEMANDED: Final = re.compile(
    r"^(?:合规|法务|安全|客户|甲方|监管|审计|法律|公司|老板)(?:部门?|团队|组|方面|上)?(?:要求|"
    r"规定|不允许|不让|强调)"
    r"(?P<what>.*(?:不能|必须|不得|只能|不允许|禁止|至少|最多|不准|都要|保留).*)$"
)
_GOAL: Final = re.compile(
    r"^(?:这个|我们|本|我们这个)?(?:项目|团队|(?:本|这个?|下个?)季度|今年|明年|上半年|"
    r"下半年)的?(?:主要|核心|首要)?(?:目标|重点|优先级)是"
    r"(?P<what>.{3,})$"
)
_CAUSE: Final = re.compile(
    r"^.{0,12}(?:事故|故障|宕机|线上问题|数据丢失)(?:的?原因是|是因为|是由于?|"
    r"是)(?P<what>.{3,}?)(?:引起|导致|造成)?的?$"
)


def switched(text: str, correcting: bool) -> Claim | None:
    """Read what was moved, switched or renamed."""
    known: str | None
    if found := _USE_KNOWN.match(text):
        known = kinds.shared(found["new"], "")
        if known is None:
            return None
        return replace(claims.rule(text), corrects=True, subject=(known,))
    found = _SWITCHED.match(text)
    thing = None if found else _THING_SWITCHED.match(text)
    either = found or thing
    if not either or points(text) or claims.about_code(text):
        return None
    what, new = either["what"], either["new"]
    known = kinds.shared(new, (found["old"] or "") if found else "")
    if (
        known is None
        and not kinds.values_in(new)
        and not (correcting and found)
        and not re.match(rf"(?:{CHINESE_DATE})", new)
    ):
        return None
    if re.search(
        r"函数|方法|变量|按钮|样式|颜色|循环|类名|组件|文件名|[我你他]把|请把", what
    ) or what.startswith(("把", "将")):
        return None
    fact, reason = claims.split_reason(text, rule=False)
    return Claim(
        type=MemoryType.PROJECT,
        fact=fact,
        sentence="",
        corrects=True,
        reason=reason,
        subject=(known,) if known else (),
    )


def now_is(text: str, correcting: bool) -> Claim | None:
    """Read a corrected value; without a correction it is no cue."""
    found = _NOW_IS.match(text)
    if not found or not (correcting or found["not"]) or points(text):
        return None
    if re.fullmatch(r"(?:应该|就|都|而|其实|现在)+", found["what"]):  # Nobody knows what.
        return None
    if claims.about_code(text) or re.search(r"^[我你他]|结果|输出|返回|错误", found["what"]):
        return None
    known = kinds.shared(found["new"], found["old"] or "") if found["old"] else None
    if known is None and not kinds.values_in(found["new"]):
        return None
    fact, reason = claims.split_reason(text, rule=False)
    return Claim(
        type=MemoryType.PROJECT, fact=fact, sentence="", corrects=True,
        amends=not known and len(subjects.topic(found["what"])) == 1, reason=reason,
    )  # fmt: skip


def identity(text: str, correcting: bool) -> Claim | None:
    """Read who the person is and what they answer for."""
    fact = ""
    subject: tuple[str, ...] = ("user", "role")
    if (found := _I_AM.match(text)) and not points(found["role"]):
        if re.match(r"(?:说|想|觉得|看|问|在|不是|来)", found["role"]):
            return None
        fact = f"用户是{found['role']}"
    elif (found := _MY.match(text)) and not points(found["rest"]):
        fact = f"用户的{found['what']}{found['rest']}"
        subject = (
            subject
            if found["what"] in {"角色", "职位", "岗位", "工作"}
            else ("user", found["what"])
        )
    elif (
        (found := _I_DO.match(text)) and not points(text) and not re.search(r"[怎如]|为什么", text)
    ):
        fact = f"用户{found['verb'] or found['verb2']}"
        subject = ("user", "role") if "负责" in text else ()
    if not fact:
        return None
    return Claim(type=MemoryType.USER, fact=fact, sentence="", corrects=correcting, subject=subject)


def preference(text: str, correcting: bool) -> Claim | None:
    """Read a preference; a choice between options at hand is none."""
    found = _PREFER.match(text)
    if not found or _A_CHOICE.match(found["what"]) or points(found["what"]):
        return None
    what, reason = claims.split_reason(found["what"], rule=False)
    return Claim(
        type=MemoryType.USER,
        fact=f"用户{found['verb']}{what}",
        sentence="",
        corrects=correcting,
        subject=subjects.order(what),
        reason=reason,
    )


def due(text: str, correcting: bool) -> Claim | None:
    """Read a deadline; a date that was is none."""
    found = _DUE.match(text)
    if not found or re.search(
        r"[这那该](?!周|个?(?:项目|星期|月))|昨|前天|上周|了(?:[，,]|$)", text
    ):
        return None
    what = (found["what"] or found["what2"] or found["what3"] or "").strip()
    if re.search(r"^(?:我|你|请|帮|把)|测试用例|函数", what):
        return None
    fact, reason = claims.split_reason(text, rule=False)
    moved = re.search(r"改到|推迟|提前", text) is not None
    return Claim(
        type=MemoryType.PROJECT, fact=fact, sentence="", corrects=correcting or moved, reason=reason
    )


def reference(text: str, correcting: bool) -> Claim | None:
    """Read where something lives."""
    found = _WHERE.match(text)
    if not found or not _SITE.search(found["where"]) or _PASSING.search(found["where"]):
        return None
    if re.match(r"(?:这|那|此)", found["what"]) or re.search(
        r"挂了|坏了|打不开|报错|不对", found["where"]
    ):
        return None
    return Claim(type=MemoryType.REFERENCE, fact=text, sentence="", corrects=correcting)


def background(text: str, correcting: bool) -> Claim | None:
    """Read a demand from outside, the goal of a project, the cause of an incident."""
    found = _DEMANDED.match(text) or _GOAL.match(text) or _CAUSE.match(text)
    if not found or points(found["what"]) or claims.about_product(text):
        return None
    return Claim(
        type=MemoryType.PROJECT, fact=text, sentence="", corrects=correcting,
        subject=subjects.order(text),
    )  # fmt: skip


def decided(text: str, correcting: bool) -> Claim | None:
    """Read a decision."""
    found = _DECIDED.match(text)
    if not found or points(found["what"]) or claims.about_code(text):
        return None
    if re.search(r"方案[一二三A-D\d]|^先", found["what"]):
        return None
    fact, reason = claims.split_reason(text, rule=False)
    return Claim(
        type=MemoryType.PROJECT, fact=fact, sentence="", corrects=correcting, reason=reason
    )
