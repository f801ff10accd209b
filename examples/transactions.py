"""Transactions from a DataFrame: one directed graph of payments per customer, ranked against usual customers.

Run it with ``python examples/transactions.py``. It needs pandas, makes its own data and takes a few seconds.
"""

import numpy as np
import pandas as pd

from graphglass import GraphGlass, read_graphs

generator = np.random.default_rng(0)
HOUSEHOLD = {"landlord": 900, "grocer": 80, "utility": 60, "pharmacy": 25, "cinema": 15}


def household(customer: str) -> list[tuple[str, str, str, float]]:
    """Salary in, bills and purchases out."""
    rows = [(customer, "employer", "account", generator.normal(2500, 300))]
    for payee, amount in HOUSEHOLD.items():
        for _ in range(generator.integers(0, 3) + (payee in ("landlord", "grocer"))):
            rows.append((customer, "account", payee, amount * generator.lognormal(0, 0.3)))
    if generator.random() < 0.4:
        rows.append((customer, "account", "savings", 300.0))
    return rows


def circle(customer: str) -> list[tuple[str, str, str, float]]:
    """Money that goes round: account to firm to shell company and back."""
    amount = 4000.0
    return [
        *household(customer),
        (customer, "account", "firm", amount),
        (customer, "firm", "shell", amount * 0.98),
        (customer, "shell", "account", amount * 0.96),
    ]


def split_deposits(customer: str) -> list[tuple[str, str, str, float]]:
    """Many deposits just below a reporting limit, then one transfer abroad."""
    deposits = [(customer, f"depositor {i}", "account", 950.0) for i in range(12)]
    return [*household(customer), *deposits, (customer, "account", "abroad", 11000.0)]


columns = ["customer", "payer", "payee", "amount"]
usual = pd.DataFrame([row for i in range(150) for row in household(f"customer {i}")], columns=columns)
recent = pd.DataFrame(
    [
        *(row for i in range(150, 170) for row in household(f"customer {i}")),
        *circle("closed circle"),
        *split_deposits("split deposits"),
    ],
    columns=columns,
)

settings = {"graph_column": "customer", "source_column": "payer", "target_column": "payee", "directed": True}
detector = GraphGlass().fit(read_graphs(usual, **settings))
customers = read_graphs(recent, **settings)

scores, p_values = detector.decision_function(customers), detector.p_values(customers)
for place in (-scores).argsort()[:4]:
    print(f"{customers.ids[place]:16} score {scores[place]:6.3f}  p-value {p_values[place]:.3f}")
    for reason in detector.explain(customers[place]).reasons[:2]:
        print(f"    {reason}")
