"""Text in encodings that nobody names: what its characters tell, and that the guess is told."""

from __future__ import annotations

import gzip
import time

import pytest

from mason.pipeline.formats import text_encoding
from mason.pipeline.formats.text_encoding import detect_encoding
from tests.merge.conftest import Merge

JAPANESE = "番号,氏名,住所\n1,山田太郎,東京都千代田区\n2,佐藤花子,大阪府大阪市\n"
CHINESE = "编号,姓名,城市\n1,张伟,北京市朝阳区\n2,王芳,上海市浦东新区\n"
TRADITIONAL = "編號,姓名,城市\n1,陳志明,台北市大安區\n2,許功蓋,高雄市\n"
KOREAN = "번호,이름,도시\n1,김민수,서울특별시\n2,이영희,부산광역시\n"
RUSSIAN = "номер,имя,город\n1,Иван Петров,Москва\n2,Анна Иванова,Санкт-Петербург\n"


@pytest.mark.parametrize(
    ("text", "codec", "read_as"),
    [
        (JAPANESE, "shift_jis", "cp932"),
        (JAPANESE, "euc_jp", "euc_jp"),
        (JAPANESE, "iso2022_jp", "iso2022_jp_2"),
        (CHINESE, "gbk", "gb18030"),
        (CHINESE, "gb18030", "gb18030"),
        (TRADITIONAL, "big5", "cp950"),
        (KOREAN, "euc_kr", "cp949"),
        (RUSSIAN, "cp1251", "cp1251"),
        (RUSSIAN, "koi8_r", "koi8_r"),
    ],
)
def test_the_characters_tell_the_encoding_and_the_guess_is_told(
    merge: Merge, text: str, codec: str, read_as: str
) -> None:
    merge.given("a.csv", text.encode(codec))
    merge.given("b.csv", text.encode("utf-8"))

    result = merge.run()

    rows = [row.split(",") for row in text.splitlines()]
    assert merge.table().column_names == rows[0]
    assert sorted(merge.table()[rows[0][1]].to_pylist()) == sorted([rows[1][1], rows[2][1]] * 2)
    (warning,) = result.plan.warnings
    assert warning.startswith("a.csv: ")
    assert read_as in warning
    assert "(the parameter encoding can say otherwise)" in warning
    guessed, sure = result.plan.to_dict()["Readings"]
    assert (guessed["Encoding"], guessed["EncodingIs"]) == (read_as, "guessed")
    assert sure["Encoding"] == "utf-8"
    assert "EncodingIs" not in sure


def test_encodings_that_fit_as_well_are_named() -> None:
    """Two characters of Korean are two of Chinese, and nothing tells them apart."""
    found = detect_encoding("id,name\n1,김민\n".encode("euc_kr"))

    assert found.guessed
    for name in ("gb18030", "cp949", "cp950", "euc_jp"):
        assert name in found.warning
    assert "would fit, too" in found.warning


@pytest.mark.parametrize(
    "text",
    [
        "id,name\n1,Müller\n",
        "id,t\n1,20°\n2,±5 µm\n",
        "id,n\n1,São João\n2,ações\n",
        "id,t\n1,“ok” – l’été\n",
        "n\né\n",
    ],
)
def test_western_text_is_not_taken_for_east_asian(text: str) -> None:
    assert detect_encoding(text.encode("cp1252")).name == "cp1252"


@pytest.mark.parametrize("codec", ["iso8859_2", "cp1250"])
@pytest.mark.parametrize(
    "text",
    [
        "id,name\n1,ąęśćż\n2,Wałęsa\n",
        "id,name\n1,Łódź\n2,Kraków\n3,Gdańsk\n4,Wrocław\n5,Częstochowa\n",
        "id,name\n1,Žižek\n2,Dvořák\n3,Příliš žluťoučký kůň\n4,Plzeň\n",
    ],
)
def test_letters_of_central_europe_are_no_arabic_and_not_western(text: str, codec: str) -> None:
    content = text.encode(codec)

    found = detect_encoding(content)

    assert content.decode(found.name) == text
    assert found.guessed


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        ("id,name\n1,Győr\n2,Hódmezővásárhely\n3,Árvíztűrő\n", "cp1250"),
        ("id,name\n1,Şahin\n2,Yıldız\n3,Güneş\n4,İstanbul\n", "cp1254"),
    ],
)
def test_encodings_of_neighbours_that_fit_as_well_are_named(text: str, codec: str) -> None:
    found = detect_encoding(text.encode(codec))

    assert found.name == "cp1252"
    also = found.warning.partition("Windows-1252; ")[2].partition(" would fit, too")[0]
    assert codec in also.split(", ")


def test_nothing_else_is_named_where_the_letters_are_the_same() -> None:
    assert "would fit" not in detect_encoding("id,name\n1,Müller\n2,Straße\n".encode("cp1252")).warning


def test_text_that_begins_as_utf8_may_be_chinese() -> None:
    """The two bytes of this character are one of UTF-8, too."""
    text = "位置,城市\n1,位于北京市\n2,上海市浦东新区\n"

    assert detect_encoding(text.encode("gbk")).name == "gb18030"


def test_utf8_with_faults_stays_utf8() -> None:
    content = "id,name\n1,山田太郎\n2,佐藤花子\n".encode() + b"3,\xff\n"

    assert detect_encoding(content).name == "utf-8"


def test_a_sample_that_ends_within_a_character_tells_the_same() -> None:
    content = (JAPANESE * 500).encode("cp932")

    assert {detect_encoding(content[:end]).name for end in range(16_384, 16_400)} == {"cp932"}


def test_what_the_guess_does_not_hold_is_set_aside(merge: Merge) -> None:
    lines = [f"{number},山田太郎" for number in range(2, 20_000)]
    merge.given("a.csv", "\n".join(["id,名前", "1,東京", *lines, ""]).encode("cp932") + b"20000,\x81\xff\n")

    result = merge.run()

    assert (result.rows_in, result.rows_out, result.quarantined) == (20_000, 19_999, 1)


def test_compressed_text_is_guessed_as_well(merge: Merge) -> None:
    merge.given("a.csv.gz", gzip.compress(KOREAN.encode("euc_kr")))

    assert [row["이름"] for row in merge.rows()] == ["김민수", "이영희"]


def test_a_given_encoding_is_no_guess(merge: Merge) -> None:
    merge.given("a.csv", JAPANESE.encode("cp932"))

    plan = merge.plan(encoding="shift_jis")

    assert list(plan.warnings) == []
    assert "EncodingIs" not in plan.to_dict()["Readings"][0]


def test_utf8_does_not_pay_for_the_guess(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(start: bytes) -> list[str]:
        raise AssertionError("UTF-8 needs no guess")

    monkeypatch.setattr(text_encoding, "guess_encodings", fail)
    content = (JAPANESE * 20_000).encode()

    began = time.perf_counter()
    assert detect_encoding(content).name == "utf-8"
    assert time.perf_counter() - began < 0.5
