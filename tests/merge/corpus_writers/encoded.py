"""Files of which only their characters tell the encoding."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.merge.corpus_writers.case import Case

_Table = tuple[Sequence[str], Sequence[Sequence[Any]]]
_JAPANESE: _Table = (
    ["id", "名前", "住所"],
    [[1, "山田太郎", "東京都千代田区"], [2, "佐藤花子", "大阪府大阪市"], [3, "表計算ソフト", "能登"]],
)
_KATAKANA: _Table = (["id", "品名"], [[1, "トマト"], [2, "コーヒー"], [3, "ソース"]])
_HALF_KATAKANA: _Table = (["id", "name"], [[1, "ﾀﾅｶ ﾀﾛｳ"], [2, "ｽｽﾞｷ ﾊﾅｺ"]])
_CHINESE: _Table = (
    ["编号", "姓名", "城市"],
    [[1, "张伟", "北京"], [2, "王芳", "上海"], [3, "李娜", "广州市天河区"]],
)
_TRADITIONAL: _Table = (
    ["編號", "姓名", "城市"],
    [[1, "陳志明", "台北市"], [2, "許功蓋", "高雄市"], [3, "黃淑芬", "臺中市西屯區"]],
)
_KOREAN: _Table = (["번호", "이름", "도시"], [[1, "김민수", "서울특별시"], [2, "이영희", "부산광역시"]])
_RUSSIAN: _Table = (["ид", "имя", "город"], [[1, "Иван Петров", "Москва"], [2, "Анна Иванова", "Санкт-Петербург"]])
_GREEK: _Table = (["id", "όνομα"], [[1, "Γιώργος Παπαδόπουλος"], [2, "Μαρία από την Αθήνα"]])
_ARABIC: _Table = (["id", "اسم"], [[1, "محمد علي"], [2, "فاطمة من القاهرة"]])
_THAI: _Table = (["id", "ชื่อ"], [[1, "สมชาย ใจดี"], [2, "กรุงเทพมหานคร"]])
_GERMAN: _Table = (["id", "straße"], [[1, "Königsbrücke"], [2, "Äußere Öder Weg"], [3, "20 °C"]])
_DEGREES: _Table = (["id", "wert"], [[1, "20 °C"], [2, "±5 µm"], [3, "3 €"]])

_TABLES: Mapping[str, tuple[str, _Table]] = {
    "shift-jis": ("cp932", _JAPANESE),
    "shift-jis-katakana": ("cp932", _KATAKANA),
    "shift-jis-half-katakana": ("cp932", _HALF_KATAKANA),
    "euc-jp": ("euc_jp", _JAPANESE),
    "euc-jp-katakana": ("euc_jp", _KATAKANA),
    "iso-2022-jp": ("iso2022_jp", _JAPANESE),
    "gbk": ("gbk", _CHINESE),
    "gb18030": ("gb18030", _TRADITIONAL),
    "big5": ("big5", _TRADITIONAL),
    "euc-kr": ("euc_kr", _KOREAN),
    "cp1251": ("cp1251", _RUSSIAN),
    "koi8-r": ("koi8_r", _RUSSIAN),
    "cp866": ("cp866", _RUSSIAN),
    "cp1253": ("cp1253", _GREEK),
    "cp1256": ("cp1256", _ARABIC),
    "cp874": ("cp874", _THAI),
    "western": ("cp1252", _GERMAN),
    "western-signs": ("cp1252", _DEGREES),
}


def encoded_cases() -> Iterator[Case]:
    """Yield the files."""
    for name, (codec, (columns, rows)) in _TABLES.items():
        lines = [",".join(map(str, row)) for row in (columns, *rows)]
        yield _case(f"{name}.csv", "\n".join([*lines, ""]), codec, columns, rows)
    for name in ("shift-jis", "gbk", "big5", "euc-kr"):
        codec, (columns, rows) = _TABLES[name]
        lines = [json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False) for row in rows]
        yield _case(f"{name}.jsonl", "\n".join([*lines, ""]), codec, columns, rows)


def _case(file: str, text: str, codec: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Case:
    return Case(
        name=f"encodings-guessed/{file}",
        content=text.encode(codec),
        why=f"Nobody says that this is {codec}, but its characters: the guess is told.",
        columns=columns,
        rows=rows,
        warnings=[f"{file}: "],
    )
