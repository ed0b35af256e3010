"""What tells the name of a column from a text below it, where all is text: the words for columns, and their case."""

from __future__ import annotations

import re
from collections.abc import Sequence

_PARTS = re.compile(r"[\s_.\-/]+|(?<=[a-z0-9])(?=[A-Z])")
_DIGIT = re.compile(r"\d")
_CAMEL = re.compile(r"[a-z][A-Z]")
_LEAST_CONTRASTS = 3

_WORDS = """
    account action active address age airline airport amount area author balance bank birth birthday body book brand
    byte bytes capital car category cell cents channel city class client code color colour column comment comments
    company cost count country county created currency customer data date datetime day days department description
    destination detail details device district duration email employee end error event family fax field file first
    firstname flag format from gender given group height host hour hours id ids index info ip isbn item items key keys
    kind label lang language last lastname lat latitude length level line link location lon long longitude mail make
    manager max mean measure median message method min minute mobile model modified month name names nation note notes
    num number object operation order origin owner page parent path payment percent person phone place player position
    post postcode price priority product project province qty quantity question rank rate rating reason record ref
    reference region remark remarks result role room row salary sample score second section sender series session sex
    shop size source species start state station status street subject sum supplier surname symbol tag tags target tax
    team temp temperature text time timestamp title token total town type uid unit units updated uri url user
    username uuid val value values variable vendor version volume vote votes week weight width word words year years
    zip zipcode
    anzahl art artikel aktiv bemerkung beschreibung betrag bezeichnung datum einheit farbe gebiet geburtsdatum
    geschlecht gewicht gruppe jahr kategorie kennung konto kunde kundennummer land menge monat nachname nummer ort plz
    preis produkt schlüssel stadt stadtteil straße strasse tag telefon text titel typ uhrzeit verwendungszweck vorname
    wert währung zeit zeitpunkt
    adresse année annee code_postal commune courriel date_naissance département montant mois nom pays prénom prenom prix
    quantité région rue ville
    apellido calle cantidad ciudad código codigo correo descripción dirección fecha nombre país pais precio teléfono
    tipo valor
"""
_USUAL = frozenset(_WORDS.split())


def are_usual_names(cells: Sequence[str]) -> bool:
    """Say whether columns are usually called so, at least half of them: `name`, `Order Date` or `customer_id` are."""
    return bool(cells) and sum(map(_is_usual, cells)) * 2 >= len(cells)


def _is_usual(cell: str) -> bool:
    text = cell.strip()
    parts = [part.casefold() for part in _PARTS.split(text) if part]
    if not parts:
        return False
    if " " not in text and len(parts) > 1:  # first_name, orderId: no text is written so
        return any(part in _USUAL for part in parts)
    return all(part in _USUAL for part in parts)


def contrast_with_values(cells: Sequence[tuple[str, Sequence[str]]]) -> bool:
    """Say whether cells are written otherwise than all that stands below them.

    `name` above `Ann` and `Bob` is, and so is `street` above `elm 5` and `oak 7`.
    """
    contrasts = 0
    for cell, column in cells:
        style, present = style_of(cell), list(filter(None, column))
        if all(style_of(value) != style for value in present):
            contrasts += len(present)
        if not _DIGIT.search(cell) and all(map(_DIGIT.search, present)):  # that is hardly ever by chance
            contrasts += len(present) * 2
    return contrasts >= _LEAST_CONTRASTS


def vary_in_case_alike(cells: Sequence[tuple[str, Sequence[str]]]) -> bool:
    """Say whether cells are written in several ways, each like all below it: `Ann,DE` above `Bob,FR`.

    Names of columns are mostly all written in one way.
    """
    styles = [style_of(cell) for cell, _ in cells]
    if len(set(styles)) < 2:
        return False
    return all(
        any(column) and all(style_of(value) == style for value in column if value)
        for style, (_, column) in zip(styles, cells, strict=True)
    )


def style_of(text: str) -> str:
    """Return how the letters of a text are written."""
    if "_" in text or _CAMEL.search(text):
        return "identifier"
    if text.islower():
        return "lower"
    if text.isupper():
        return "upper"
    first = next(filter(str.isalpha, text), "")
    return "" if not first else "capital" if first.isupper() else "other"
