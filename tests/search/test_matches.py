"""What is alike and what is not, at the default cutoff, in dicts of several fields."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from fuzzydict import Brown, FuzzyDict

#: Keys, and queries with the key that each finds: short forms, initials, slips.
FOUND = """
prod, staging, dev, max_connections, min_replicas, cfg_path, auth_token: development = dev; maximum
    connections = max_connections; minimum replicas = min_replicas; configuration path = cfg_path;
    authentication token = auth_token
manager, worker, covid19, influenza, wontfix: mgr = manager; COVID 19 = covid19; won't fix = wontfix
information technology, research and development, public relations, chief executive officer, CPU:
    I.T. = information technology; it = information technology; R&D = research and development; PR =
    public relations; C.E.O. = chief executive officer; ceo = chief executive officer; CPUs = CPU
United Kingdom, United States, France, South Africa, New Zealand, Lisbon: U.K. = United Kingdom; UK
    = United Kingdom; US = United States; U.S. = United States; NZ = New Zealand; Lisboa = Lisbon
username, street_address, email, postcode, birthday: user = username; user name = username; e-mail =
    email; e-mail address = email; post code = postcode; date of birth = birthday
file_name, file_size, Windows 10, Windows 11: filename = file_name; Windows10 = Windows 10
2023-01-02, Free Wi-Fi, Free Parking: 02/01/2023 = 2023-01-02; parking = Free Parking
Mexico, New Mexico, Texas, Nevada, Q1 2023: Mxico = Mexico; New Mxico = New Mexico; 1Q23 = Q1 2023
home phone number, work phone, email, Disney+: home phone = home phone number; disney plus = Disney+
active, inactive, paid, unpaid: in-active = inactive; un-paid = unpaid
sugarless gum, gum with sugar: sugar-free gum = sugarless gum; gum, no sugar = sugarless gum
price with tax, price without tax, discount: price w/o tax = price without tax
EUR/USD, USD to EUR, GBP/USD, Galaxy S24+: USD/EUR = USD to EUR; Galaxy S24 Plus = Galaxy S24+
color, brand, topSpeed: colour = color; clr = color; hue = color; top speed = topSpeed; maximum
    speed = topSpeed
quantity, price, timezone, clock: qty = quantity; time zone = timezone
cost of, the engine, pos, crm: engine of the = the engine; point of sale = pos
date_of_birth, name, phone, fax, 500 USD: dob = date_of_birth; smartphone = phone; $500 = 500 USD
ruler 30 cm, oil 500 ml, rice 1 kg, trial 14 days, Not applicable: ruler 300mm = ruler 30 cm; oil
    0,5 l = oil 500 ml; rice 1000 g = rice 1 kg; trial 2 weeks = trial 14 days; N/A = Not applicable
Milk 1 l, Milk 2 l: milk 1000 ml = Milk 1 l
30 minutes, 1 hour, 1 day: 60 minutes = 1 hour; 0.5 h = 30 minutes; 24h = 1 day
1 l, 500 ml, flour, 2022/23 Season: 1000 ml = 1 l; 0.5 l = 500 ml; season 2022-2023 = 2022/23 Season
wireless mouse, keyboard, Tuberculosis: mouse without a wire = wireless mouse; TB = Tuberculosis
weight (kg), temperature (°C), current (A): weight = weight (kg); temperature = temperature (°C);
    temp_degC = temperature (°C); current = current (A)
Algebra I, 3 Elm St Unit 2, type 2 diabetes: algebra 1 = Algebra I; Unit 2, 3 Elm St = 3 Elm St Unit
    2; diabetes type II = type 2 diabetes
Organisation for Economic Co-operation, x: OEC = Organisation for Economic Co-operation
host, port, commit, committing: hostname = host; commiting = committing
storm, red, danger, one way: snowstorm = storm; reddish = red; dangerous = danger; oneway = one way
first_name, last_name, phone: fname = first_name; lname = last_name; firstname = first_name; frist
    name = first_name
timeout_s, one way, led red 5 mm: timeout_seconds = timeout_s; red led 5 mm = led red 5 mm
surname, zip code, Great Britain, kubernetes, 5 gram, DE8937040044, 10-15 C: last name = surname;
    postal code = zip code; UK = Great Britain; k8s = kubernetes; 5 g = 5 gram; DE89 3704 0044 =
    DE8937040044; 10 15 C = 10-15 C
phone 0301234567, 10000kg, eu38b, berlin10115 room1 2, 1500 m: phone 030 1234567 = phone 0301234567;
    1,500 m = 1500 m; 10 000 kg = 10000kg; eu 38 b = eu38b; berlin 101 15 room 1 2 = berlin10115
    room1 2
10 µF, 5 mA, 500 mAh, 4.7 Ω, KMnO4: 10uF = 10 µF; 10 microfarad = 10 µF; 5 milliamperes = 5 mA; 4.7
    ohm = 4.7 Ω; 500mAh = 500 mAh; 500 milliampere hours = 500 mAh; potassium permanganate = KMnO4
German, acetaminophen 5 mg, dose (mg/mL): Deutsch = German; paracetamol 5 mg = acetaminophen 5 mg
Robert Miller, Catherine Fox, William Grey: Bob Miller = Robert Miller; Fox, Kate = Catherine Fox
car, bus, entrance, red, C++: new car = car; main entrance = entrance; dark red = red; cpp = C++
profit > 10 %, Disney+, A+: profit over 10 % = profit > 10 %; disney = Disney+; a+ = A+
Robert Miller, Chapter V, Q3 2022: R. Miller = Robert Miller; chapter 5 = Chapter V; 2022 Q3 = Q3
    2022
cola 6 x 330 ml, bulb 12V 55W, June 2022, board 18 x 220 mm: cola 6x33cl = cola 6 x 330 ml; bulb 55
    W 12 V = bulb 12V 55W; 2022-06 = June 2022; board 220x18mm = board 18 x 220 mm
Train from London to Paris, Train from Paris to London, cola 6 x 330 ml, Twenty Thousand Leagues: to
    Paris from London by train = Train from London to Paris; London -> Paris (train) = Train from
    London to Paris; cola 330 ml x 6 = cola 6 x 330 ml; 20,000 leagues = Twenty Thousand Leagues
created_at, Ladies' Final, Q1 2023, Log in, Q2 2024: created_on = created_at; Women's final =
    Ladies' Final; first quarter 2023 = Q1 2023; log into = Log in; second quarter 2024 = Q2 2024
air conditioning, milk 500 ml, David Price: A/C = air conditioning; 1/2 l milk = milk 500 ml; David
    Prcie = David Price
apple, apples, user_name, username, max, maximum, color, colour, movies, film: APPLES = apples;
    Apple = apple; userName = user_name; USERNAME = username; MAX = max; Colour = colour; COLOR =
    color; movie = movies
-5 °C, 5 °C, 250 mcg, 250 mg, 10 km/h, 42, 420, Fanta 2L: \N{EN DASH}5 °C = -5 °C; minus 5 C = -5
    °C; -5C = -5 °C; 250mcg = 250 mcg; 10 km per hour = 10 km/h; 42.0 = 42; fanta_2000ml = Fanta 2L
2024-01-02, 2024-02-01, milk 0.5 l, milk 1 l, v1.0, v1.1, Salary 1.500,00 EUR: 2 January 2024 =
    2024-01-02; half a litre of milk = milk 0.5 l; v1 = v1.0; Salary 1500 EUR = Salary 1.500,00 EUR
child ticket, UoM, PwC, Change of Control, ACCA, C#, C++: children tickets = child ticket; Unit of
    Measure = UoM; CoC = Change of Control; Association of Chartered Certified Accountants = ACCA; C
    sharp = C#
ENGL250 Shakespeare, PHYS150 Mechanics, CHEM230 Chemistry, LAW220 Torts, 2024-12-31: Shakspeer =
    ENGL250 Shakespeare; chemistry = CHEM230 Chemistry; LAW220 = LAW220 Torts; 31/12/24 = 2024-12-31
Salaries, Rent, Hitachi (6501), Sony (6758): 6010 Salaries = Salaries; hitachi = Hitachi (6501)
Population density (per km²), GDP, CFO (interim), Pay: density of population = Population density
    (per km²); CFO = CFO (interim); pay (monthly) = Pay
Room 1.01 Foyer, Hall 1.02, Store (2.01): hall = Hall 1.02; 2.01 = Store (2.01)
§ 12 Litter, § 13 Noise, Dogs / 14: noise = § 13 Noise; 13 = § 13 Noise; § 12 = § 12 Litter
DE - Germany, FR - France, Italy - IT: Germny = DE - Germany; fr = FR - France; italy = Italy - IT
OSLO, ROME, BONN, LIMA, Tile 600 x 600 mm: Olso = OSLO; TILE 60X60 CM = Tile 600 x 600 mm
USA, Phase IIa, Phase IIb, WWI, WWII, 2023/24: phase 2a = Phase IIa; phase iib = Phase IIb;
    WW2 = WWII; 2023-24 = 2023/24
"""
#: Queries, and keys of which each must not find the first: opposites, codes, numbers, units.
REFUSED = """
house: color; engine: brand; price: top speed; qwzzt: username; in-active: active, pending, closed;
price w/o tax: price with tax, discount; USD/EUR: EUR/USD, GBP/USD, gold; max speed: min speed,
weight; maximum: min, avg; minimum temperature: max_temp, humidity; max: minimum, average; with
milk: without milk, sugar; without breakfast: with breakfast, parking; on: off, unknown; enable:
disable, reset; non-fiction: fiction, poetry; paid: unpaid, address; not available: available,
discontinued; in stock: out of stock, colour; sugar free: sugar, milk; src: destination, protocol;
SKU-99999: SKU-99998, SKU-12345; 2023-01-01: 2023-01-02, 2024-01-01; 01/02/2023: 01/03/2023, due;
python 3.13: python 3.12, java; A3: A4, letter; a1b2c3d4: a1b2c3d5, ffffff00; 192.168.0.1:
192.168.0.2, 10.0.0.1; EUR: EGP, INR; Q1: Q2, Q3; second: millisecond, hour; DB_PORT: DB_PASSWORD,
DB_HOST; cheesecake: cheese, butter; teapot: tea, milk; alligator: crocodile, lion, bear; frog: fog,
honey, violin; cancel a flight: book a flight, pay a bill; deregister: register, search;
distance_km: distance_miles, owner; barn owner: barn height, barn colour, tractor; v1.2: v2.1, name;
version 1.1.2: version 1.2, name; -15 C: 15 C, name; k9s: kubernetes, docker; unencrypted:
encrypted, size; usd to eur: eur to usd, gold; 2nd: third, room; room 1 2 berlin 10115: room 12
berlin 10115, zebra; true: no, room; refunds not possible: refunds possible, deposit; isn't
confirmed: confirmed, sent; mister: Mrs, Dr; not in use: in use, sold; UK 38: EU 38, EU 39; pets
banned: pets allowed, bar; 2023-05-01: 2023-01-05, due; Ulm - Bonn: Bonn - Ulm, Kiel - Bonn; women's
shoes: men's shoes, socks; race 1,500: race, run; lorazepam: diazepam, aspirin; prednisone:
prednisolone, aspirin; HDL cholesterol: LDL cholesterol, glucose; 0.05: 0.5, x; .5mg: 5 mg, x; rate
0.01 %: rate 0.1 %, x; -$100: $100, x; profit \N{MINUS SIGN}10 %: profit +10 %, x; 1250.05 EUR:
1250.5 EUR, x; 0.5 mg: 5.0 mg, x; age > 65: age < 65, x; A-: A+, B+; C#: C, Java; F#: C#, Java; 16
mHz: 16 MHz, x; 5 µF: 5 F, 5 pF; 10 µg: 10 mg, x; > 10 %: 10 %, x; apple juice 1.5 l: milk 1.5 l,
cola 1.5 l; sweet potatoes: potatoes, x; New Mexico: Mexico, x; soap opera: opera, x; coil 10 mH:
coil 10 µH, x; oil 750 g: oil 750 ml, x; age at least 18: age < 18, x; D+: D, x; C--: C, x; Andrea
Miller: Andrew Miller, Ann Fox; Mario: Maria, Ann; esomeprazole: omeprazole, aspirin; valsartan:
losartan, x; sulfite: sulfate, x; manganese oxide: magnesium oxide, x; scss: css, html; Robert
Johnston: Robert Johnson, x; VP of Marketing: VP of Sales, x; Madrid: Barcelona, x; rye flour: wheat
flour, oil; Deutsch: Dutch, Danish; current (mA): current (A), x; hours: human resources, x; NestJS:
Next.js, x; ruler 30 mm: ruler 30 cm, x; weight (lb): weight (kg), x; speed (°F): speed (°C), x; no
history of pain: a history of pain, x; has no allergy: has an allergy, x; Unit 3, 2 Elm St: 2 Elm St
Unit 2, x; Senior Project Manager: Senior Product Manager, x; 12b Elm St: 12a Elm St, x; 12 Elm St:
12a Elm St, x; K. Miller: Robert Miller, x; nobody paid: he paid, x; Louis XV: Louis XIV, x;
current_A: current_mA, x; received no order: received my order, x; hide the menu: show the menu, x;
turn off the lamp: dim the lamp, x; sunflower oil 500 ml: olive oil 500 ml, x; CO (ppm): CO2 (ppm),
x; Line N12: Line 12, x; cat6a: Cat6, x; relay 5 A: Relay 5 V, x; S. Cox: R. Cox, x; iPhone 14 Pro
case: iPhone 14 case, x; Close all other tabs: Close all tabs, x; Senior Auditor: Auditor, x;
created_on: created_by, x; infeed: outfeed, x; cola 330 ml: cola 24 x 330 ml, x; EUR > USD: USD >
EUR, x; HR Director: HR Manager, x; euros to yen: yen to euros, x; David Cost: David Price, x;
isPublished: publishedAt, x; Michael Browning: Michael Brown, x; 1/2 l milk: milk 1 l, x; 5 Jan
2024: 2024-05-01, x; paperless billing: paper billing, x; is not paid: paid, with sugar; unlimited
free calls: limited calls, x; barely damaged: undamaged, damaged; not home: homeless, home; 2 adults
3 children: 3 adults 2 children, x; 9 Elm St Apt 2: Apt 9 2 Elm St, x; minus 5 °C: 5 °C, x; NaCl 9%:
NaCl 0.9%, x; Digoxin 250ug: Digoxin 250 mg, x; Morphine 10 mg/h: Morphine 10 mg, x; 100 IU: 100
IU/ml, x; v1.01: v1.1, x; Wien Ostbahnhof: Wien Westbahnhof, x; mirror glass LH: mirror glass RH, x;
History of the Ottoman Empire: HIST180 Roman Empire, HIST181 Egypt, LAW220 Torts; 1860 Munich:
Bayern Munich, x; WTO: WHO, x; BA-123: AB-123, x; CDE-4456: CD-4456, x; Gate 1: Gate A1, x; SKU 88:
SKU 88-B, x; Rent (office): Rent (store), x; b+: B, AB-; 5.1: 1.5, x; NaCl 0.9%: NaCl 9%, x; digoxin
0.025 mg: digoxin 0.25 mg, x; without breakfast: breakfast, parking; yes: no, maybe; tabs 5 mg:
drops 5 mg, x; undelete a file: delete a file, x; v1.1.0: v1.0.1, x; v1.1: v1, x; Fee 123450 EUR:
Fee 1,234.50 EUR, sun; Hoodie size S: Hoodie size M, sun; above 18: under 18, sun; Out-patient care:
Inpatient care, sun; pipe 15": Pipe 15 mm, sun; nodebug: debug, sun; Consulting $500: Consulting 500
EUR, sun; Jerrycan 2.5 (l): Jerrycan 5 l, sun; Sergey Pavlovich Kuznetsov: Sergey Ivanovich
Kuznetsov, sun; 123 W Main Street: 123 N Main Street, sun; 1.500 EUR: 1.50 EUR, sun; Hydrofluoric
acid: Hydrochloric acid, sun; isotretinoin: tretinoin, sun; Kielce: Kiel, sun; Anna Gruber: Anna
Huber, sun; Quercus: Prunus, sun; LHR: THR, IKA, JFK; Phase IIc: Phase IIb, Phase III; WWIII: WWII,
WWI; 5.3.2024: 2024-05-03, sun; 5/3/2024: 2024-05-03, 2024-03-05; DE - Exports: UK - Exports, US -
Imports, FR - Fish; public housing: Section 8 Housing, Channel 4 News, Studio 54 Club; diabetes:
Type 2 diabetes, Type 1 diabetes mellitus, Type 3 tremor; clotrimazole 1 %: cotrimoxazole 1 %, sun
"""

#: The same with scorer="spelling": what is written alike, whatever it means.
SPELLED = """
DB_PASSWORD, DB_HOST, timeout, ssl_enabled: db_passwd = DB_PASSWORD; db_pass = DB_PASSWORD;
    dbPassword = DB_PASSWORD; DB-HOST = DB_HOST; dbhost = DB_HOST; host_db = DB_HOST; the host of
    the db = DB_HOST; db_hosts = DB_HOST; enable_ssl = ssl_enabled; ssl enabled = ssl_enabled;
    ssl_enabeld = ssl_enabled; tmeout = timeout; time_out = timeout
database_host, timeout: db_host = database_host
index, timeout: indices = index
"""
#: Queries, and keys of which each finds none: another word, a synonym, an opposite.
NOT_SPELLED = """
DB_PORT: DB_PASSWORD, DB_HOST, timeout, ssl_enabled; verify_ssl: ssl_enabled, timeout, host;
DB_USER: DB_PASSWORD, DB_HOST, timeout, ssl_enabled; SSH_HOST: DB_HOST, timeout; deadline: timeout,
DB_HOST; server: DB_HOST, timeout; credential: DB_PASSWORD, DB_HOST, timeout, ssl_enabled;
DB_SERVER: DB_HOST, DB_PASSWORD; cache_enabled: ssl_enabled, timeout; automobile: car, movie, price;
film: movie, car, price; max_connections: min_connections, timeout; disable_ssl: enable_ssl,
timeout; upload_limit_gb: upload_limit_mb, host; timeout_s: timeout_ms, host; delay_ms: delay_s, x
"""
#: Numbers that are split otherwise, whatever the scorer.
NUMBERS = "1.5 kg: 15 kg, sun; python 31.1: python 3.11, sun; v12: v1_2, sun; 11.0: 1.1.0, sun"


def told(scorer: str | None, found: str, refused: str) -> Iterator[Any]:
    """Yield the scorer, a query, the keys, and the key that it finds, if any."""
    for block in found.replace("\n    ", " ").split("\n"):
        keys, _, pairs = block.partition(": ")
        for pair in pairs.split("; ") if pairs else ():
            query, key = pair.split(" = ")
            names = keys.split(", ")
            yield pytest.param(scorer, query, names, key, id=f"{query} in {keys}, {scorer}")
            if names[1:] == ["timeout"]:  # the other way round
                yield pytest.param(scorer, key, [query, "timeout"], query)
    for line in f"{refused}; {NUMBERS}".replace("\n", " ").split("; "):
        query, keys = line.strip().split(": ")
        yield pytest.param(scorer, query, keys.split(", "), None, id=f"{line.strip()}, {scorer}")


@pytest.mark.parametrize(
    ("scorer", "query", "keys", "key"),
    [*told(None, FOUND, REFUSED), *told("spelling", SPELLED, NOT_SPELLED)],
)
def test_what_is_alike_and_what_is_not(scorer: Any, query: str, keys: Any, key: Any) -> None:
    found = FuzzyDict(zip(keys, keys, strict=True), scorer=scorer).get(query)
    if key is None:
        assert found not in (keys if scorer else keys[:1])
    else:
        assert found == key
    assert FuzzyDict({name: name for name in keys[::-1]}, scorer=scorer).get(query) == found


def test_another_name_that_shares_no_letter_is_found_among_many_keys() -> None:
    d = FuzzyDict({name: name for name in [*Brown().words[:500], "eswatini", "Old Names of Land"]})
    assert d["swaziland"] == d.get_many(["Swaziland!", "x"])[0] == "eswatini"
    assert d["onol"] == d.get_many(["ONOL!", "x"])[0] == "Old Names of Land"
