"""Parts of patterns that several cues share, and what points into the conversation."""

from __future__ import annotations

import re
from typing import Final

from memoryd.extraction.offline import claims

THING: Final = (
    r"(?P<{0}>[A-Za-z][\w@./+#-]*(?: [A-Za-z][\w@./+#-]*){{0,2}}|[\u3400-\u9fff]{{2,8}}?)"
)
_POINTS: Final = re.compile(
    r"(?:这(?!么)|那(?!么)|(?<!应)该|此|上述|以上|下面)(?!个?(?:项目|仓库|团队))|它|当前(?:文件|"
    r"函数)|暂时|先(?:不|别)|现在先|今天先"
)
IMPERATIVE: Final = re.compile(
    r"^(?:要|不要|别|请|总是|每次|永远|始终|一律|必须|务必|使用|用|写|跑|先|只|改用|严禁|禁止|"
    r"提交|部署|发布前|回答|回复|优先|尽量|保持|避免)|一律|"
    r"都要|都用|必须|不要|不能|务必|统一用"
)


def points(text: str) -> bool:
    """Say whether a statement, its reason left out, points into the conversation."""
    return _POINTS.search(claims.split_reason(text, rule=True)[0]) is not None
