"""What is alike and what is not, at the default cutoff, in dicts of several fields."""

from __future__ import annotations

from typing import Any

import pytest

from fuzzydict import FuzzyDict

HOTEL = ["guest name", "check_in_date", "room number", "number of nights", "breakfast", "parking"]
FARM = ["tractor", "fertilizer", "harvest", "irrigation", "barn", "livestock"]
SERVER = ["prod", "staging", "dev", "max_connections", "min_replicas", "cfg_path", "auth_token"]
PUPIL = ["pupil", "dept", "avg_grade", "no_of_absences", "qty_of_books", "tel_home", "addr"]
SENSOR = ["temp", "hum", "press", "max_temp", "min_temp", "batt_voltage", "sampling_freq"]
OFFICES = ["information technology", "research and development", "human resources"]
OFFICES += ["public relations", "customer service", "chief executive officer"]
COUNTRIES = ["United Kingdom", "United States", "France", "South Africa", "New Zealand"]
LOGIN = ["username", "street_address", "email", "postcode", "birthday"]
ZOO = ["elephant", "child ticket", "feeding", "opening hours", "mouse", "entrance"]

CAR = ["color", "brand", "topSpeed"]
STATES = ["Mexico", "New Mexico", "Texas", "Nevada"]

#: A query, the keys, and the key that it finds, or None: then it must not find the first.
PAIRS: list[tuple[str, list[str], str | None]] = [
    # abbreviated keys
    ("development", SERVER, "dev"),
    ("maximum connections", SERVER, "max_connections"),
    ("minimum replicas", SERVER, "min_replicas"),
    ("minimum number of replicas", SERVER, "min_replicas"),
    ("configuration path", SERVER, "cfg_path"),
    ("authentication token", SERVER, "auth_token"),
    ("department", PUPIL, "dept"),
    ("average grade", PUPIL, "avg_grade"),
    ("number of absences", PUPIL, "no_of_absences"),
    ("quantity of books", PUPIL, "qty_of_books"),
    ("home telephone", PUPIL, "tel_home"),
    ("address", PUPIL, "addr"),
    ("temperature", SENSOR, "temp"),
    ("humidity", SENSOR, "hum"),
    ("pressure", SENSOR, "press"),
    ("maximum temperature", SENSOR, "max_temp"),
    ("minimum temperature", SENSOR, "min_temp"),
    ("battery voltage", SENSOR, "batt_voltage"),
    ("sampling frequency", SENSOR, "sampling_freq"),
    ("pound", ["lbs", "oz", "kg"], "lbs"),
    ("ounces", ["lbs", "oz", "kg"], "oz"),
    ("week", ["wk", "yr", "mo"], "wk"),
    # abbreviated queries
    ("fert", FARM, "fertilizer"),
    ("irrig", FARM, "irrigation"),
    ("no of nights", HOTEL, "number of nights"),
    ("rm number", HOTEL, "room number"),
    ("mgr", ["manager", "worker", "customer"], "manager"),
    ("blvd", ["boulevard", "street", "lane"], "boulevard"),
    # initials
    ("I.T.", OFFICES, "information technology"),
    ("it", OFFICES, "information technology"),
    ("R&D", OFFICES, "research and development"),
    ("PR", OFFICES, "public relations"),
    ("C.E.O.", OFFICES, "chief executive officer"),
    ("ceo", OFFICES, "chief executive officer"),
    ("U.K.", COUNTRIES, "United Kingdom"),
    ("UK", COUNTRIES, "United Kingdom"),
    ("US", COUNTRIES, "United States"),
    ("U.S.", COUNTRIES, "United States"),
    ("NZ", COUNTRIES, "New Zealand"),
    ("point of sale", ["pos", "crm", "erp"], "pos"),
    ("information technology", ["IT", "HR", "Legal"], "IT"),
    # compounds, and the one telling word
    ("user", LOGIN, "username"),
    ("user name", LOGIN, "username"),
    ("e-mail", LOGIN, "email"),
    ("e-mail address", LOGIN, "email"),
    ("post code", LOGIN, "postcode"),
    ("date of birth", LOGIN, "birthday"),
    ("time zone", ["timezone", "clock", "location"], "timezone"),
    ("filename", ["file_name", "folder", "file_size"], "file_name"),
    ("guests", HOTEL, "guest name"),
    # forms
    ("children tickets", ZOO, "child ticket"),
    ("mice", ZOO, "mouse"),
    ("elephants", ZOO, "elephant"),
    ("feedings", ZOO, "feeding"),
    ("HARVESTING", FARM, "harvest"),
    ("fertilized", FARM, "fertilizer"),
    ("irrigated", FARM, "irrigation"),
    ("nightsNumber", HOTEL, "number of nights"),
    ("date of check-in", HOTEL, "check_in_date"),
    # slips
    ("elefant", ZOO, "elephant"),
    ("entrence", ZOO, "entrance"),
    ("fertiliser", FARM, "fertilizer"),
    ("livestok", FARM, "livestock"),
    ("room nubmer", HOTEL, "room number"),
    ("breakfest", HOTEL, "breakfast"),
    # numbers written otherwise
    ("Windows10", ["Windows 10", "Windows 11"], "Windows 10"),
    ("02/01/2023", ["2023-01-02", "2024-05-06"], "2023-01-02"),
    ("COVID 19", ["covid19", "influenza"], "covid19"),
    ("python 3", ["python 3.12", "python 2.7"], "python 3.12"),
    # names in names
    ("Mxico", STATES, "Mexico"),
    ("New Mxico", STATES, "New Mexico"),
    ("home phone", ["home phone number", "work phone", "email"], "home phone number"),
    # negations, and the other way round
    ("in-active", ["active", "inactive", "pending"], "inactive"),
    ("in-active", ["active", "pending", "closed"], None),
    ("un-paid", ["paid", "unpaid"], "unpaid"),
    ("price w/o tax", ["price with tax", "price without tax", "discount"], "price without tax"),
    ("price w/o tax", ["price with tax", "discount"], None),
    ("USD/EUR", ["EUR/USD", "GBP/USD", "gold"], None),
    ("USD/EUR", ["EUR/USD", "USD/EUR rate", "GBP/USD"], "USD/EUR rate"),
    # what everyone types
    ("colour", CAR, "color"),
    ("clr", CAR, "color"),
    ("hue", CAR, "color"),
    ("top speed", CAR, "topSpeed"),
    ("maximum speed", CAR, "topSpeed"),
    ("qty", ["quantity", "price", "item"], "quantity"),
    ("dob", ["date_of_birth", "name", "address"], "date_of_birth"),
    # opposites
    ("max speed", ["min speed", "weight"], None),
    ("maximum", ["min", "avg"], None),
    ("minimum temperature", ["max_temp", "humidity"], None),
    ("max", ["minimum", "average"], None),
    ("with milk", ["without milk", "sugar"], None),
    ("without breakfast", ["with breakfast", "parking"], None),
    ("without breakfast", ["breakfast", "parking"], None),
    ("lights on", ["lights off", "heating"], None),
    ("on", ["off", "unknown"], None),
    ("highest score", ["lowest score", "player"], None),
    ("enable", ["disable", "reset"], None),
    ("enabling cache", ["disabled_cache", "port"], None),
    ("enabled", ["disabled", "owner"], None),
    ("after lunch", ["before lunch", "dinner"], None),
    ("start date", ["end date", "venue"], None),
    ("start", ["end", "pause"], None),
    ("check in", ["check out", "room"], None),
    ("scroll up", ["scroll down", "zoom"], None),
    ("left margin", ["right margin", "font"], None),
    ("input file", ["output file", "mode"], None),
    ("imports", ["exports", "population"], None),
    ("open", ["closed", "pending"], None),
    ("public key", ["private key", "issuer"], None),
    ("yes", ["no", "maybe"], None),
    ("smoker", ["non-smoker", "age"], None),
    ("non-fiction", ["fiction", "poetry"], None),
    ("unlock", ["lock", "reboot"], None),
    ("paid", ["unpaid", "address"], None),
    ("not available", ["available", "discontinued"], None),
    ("in stock", ["out of stock", "colour"], None),
    ("sugar free", ["sugar", "milk"], None),
    ("arrival time", ["departure time", "gate"], None),
    ("ascending", ["descending", "shuffled"], None),
    ("debit account", ["credit account", "branch"], None),
    ("oldest pupil", ["youngest pupil", "teacher"], None),
    ("previous page", ["next page", "title"], None),
    ("sunrise", ["sunset", "humidity"], None),
    ("src", ["destination", "protocol"], None),
    # codes, numbers, dates and sizes
    ("SKU-99999", ["SKU-99998", "SKU-12345"], None),
    ("2023-01-01", ["2023-01-02", "2024-01-01"], None),
    ("01/02/2023", ["01/03/2023", "due"], None),
    ("python 3.13", ["python 3.12", "java"], None),
    ("A3", ["A4", "letter"], None),
    ("B5", ["A5", "legal"], None),
    ("XXS", ["XS", "XL"], None),
    ("XL", ["XXL", "S"], None),
    ("M", ["L", "S"], None),
    ("large", ["medium", "small"], None),
    ("a1b2c3d4", ["a1b2c3d5", "ffffff00"], None),
    ("192.168.0.1", ["192.168.0.2", "10.0.0.1"], None),
    ("usd", ["aud", "cad"], None),
    ("EUR", ["EGP", "INR"], None),
    ("HTTP 404", ["HTTP 403", "HTTP 500"], None),
    ("Q1", ["Q2", "Q3"], None),
    ("vitamin c", ["vitamin d", "iron"], None),
    ("monday", ["tuesday", "wednesday"], None),
    ("june", ["july", "august"], None),
    ("ps4", ["ps5", "xbox"], None),
    ("second floor", ["first floor", "garden"], None),
    # units
    ("metre", ["kilometre", "gram"], None),
    ("gram", ["kilogram", "litre"], None),
    ("second", ["millisecond", "hour"], None),
    ("mb", ["gb", "pixel"], None),
    ("size in MB", ["size in GB", "name"], None),
    ("degrees celsius", ["degrees fahrenheit", "bar"], None),
    ("price per week", ["price per month", "deposit"], None),
    # no key has the telling word
    ("DB_PORT", ["DB_PASSWORD", "DB_HOST"], None),
    ("smtp_password", ["smtp_host", "smtp_sender"], None),
    ("barn owner", ["barn height", "barn colour", "tractor"], None),
    ("guest passport", ["guest name", "guest phone", "room"], None),
]

SETTINGS = ["DB_PASSWORD", "DB_HOST", "timeout", "ssl_enabled"]

#: The same with scorer="spelling": what is written alike, whatever it means.
SPELLINGS: list[tuple[str, list[str], str | None]] = [
    # abbreviations, other styles, another order, forms, slips
    ("db_passwd", SETTINGS, "DB_PASSWORD"),
    ("db_pass", SETTINGS, "DB_PASSWORD"),
    ("dbPassword", SETTINGS, "DB_PASSWORD"),
    ("DB-HOST", SETTINGS, "DB_HOST"),
    ("dbhost", SETTINGS, "DB_HOST"),
    ("host_db", SETTINGS, "DB_HOST"),
    ("the host of the db", SETTINGS, "DB_HOST"),
    ("db_hosts", SETTINGS, "DB_HOST"),
    ("enable_ssl", SETTINGS, "ssl_enabled"),
    ("ssl enabled", SETTINGS, "ssl_enabled"),
    ("ssl_enabeld", SETTINGS, "ssl_enabled"),
    ("tmeout", SETTINGS, "timeout"),
    ("time_out", SETTINGS, "timeout"),
    *[
        (query, [key, "timeout"], key)
        for pair in (
            *(("maximum_connections", "max_conns"), ("database_host", "db_host")),
            *(("dob", "date_of_birth"), ("dept", "department"), ("indices", "index")),
            ("qty", "quantity"),
        )
        for query, key in (pair, pair[::-1])
    ],
    # another word, a synonym, an opposite
    ("DB_PORT", SETTINGS, None),
    ("verify_ssl", ["ssl_enabled", "timeout", "host"], None),
    ("DB_USER", SETTINGS, None),
    ("SSH_HOST", ["DB_HOST", "timeout"], None),
    ("deadline", ["timeout", "DB_HOST"], None),
    ("server", ["DB_HOST", "timeout"], None),
    ("credential", SETTINGS, None),
    ("DB_SERVER", ["DB_HOST", "DB_PASSWORD"], None),
    ("cache_enabled", ["ssl_enabled", "timeout"], None),
    ("automobile", ["car", "movie", "price"], None),
    ("film", ["movie", "car", "price"], None),
    ("max_connections", ["min_connections", "timeout"], None),
    ("disable_ssl", ["enable_ssl", "timeout"], None),
]

#: Numbers that are split otherwise, whatever the scorer.
NUMBERS = [("1.5 kg", "15 kg"), ("python 31.1", "python 3.11"), ("v12", "v1_2"), ("11.0", "1.1.0")]
SPLIT: list[tuple[str, list[str], str | None]] = [
    (query, [key, "zebra"], None) for query, key in NUMBERS
]


def told(scorer: str | None, pairs: list[tuple[str, list[str], str | None]]) -> list[Any]:
    return [
        pytest.param(scorer, *pair, id=f"{pair[0]} in {pair[1][0]}, {pair[1][-1]}, {scorer}")
        for pair in pairs
    ]


@pytest.mark.parametrize(
    ("scorer", "query", "keys", "key"),
    [*told(None, PAIRS + SPLIT), *told("spelling", SPELLINGS + SPLIT)],
)
def test_what_is_alike_and_what_is_not(
    scorer: str | None, query: str, keys: list[str], key: str | None
) -> None:
    found = FuzzyDict(zip(keys, keys, strict=True), scorer=scorer).get(query)
    if key is None:
        assert found not in (keys if scorer else keys[:1])
    else:
        assert found == key
    assert FuzzyDict({name: name for name in keys[::-1]}, scorer=scorer).get(query) == found


@pytest.mark.parametrize(
    ("key", "query"),
    [("color", "house"), ("brand", "engine"), ("top speed", "price"), ("username", "qwzzt")],
)
def test_a_key_that_is_all_a_dict_has_may_still_be_wrong(key: str, query: str) -> None:
    d = FuzzyDict({key: 1})
    assert d.get(query) is None
    assert d[key.upper().replace(" ", "_")] == 1
    assert d.nearest(key.title()).score > 0.9
