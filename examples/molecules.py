"""Molecules from SMILES: rank candidates against known drugs, explain the first, write a CSV and a report.

Run it with ``python examples/molecules.py``. It needs ``pip install 'graphglass[chem]'`` and takes a few seconds.
"""

from pathlib import Path

from graphglass import GraphGlass, read_graphs
from graphglass.report.page import write_report

# In practice: read_graphs("drugs.csv", keep="all"). A table with a SMILES column is recognised.
DRUGS = """smiles,name
CC(=O)Oc1ccccc1C(=O)O,aspirin
CC(=O)Nc1ccc(O)cc1,paracetamol
CC(C)Cc1ccc(cc1)C(C)C(=O)O,ibuprofen
COc1ccc2cc(ccc2c1)C(C)C(=O)O,naproxen
OC(=O)c1ccccc1O,salicylic acid
CCOC(=O)c1ccc(N)cc1,benzocaine
CCN(CC)CCOC(=O)c1ccc(N)cc1,procaine
CCN(CC)CC(=O)Nc1c(C)cccc1C,lidocaine
CNCCC(Oc1ccc(cc1)C(F)(F)F)c1ccccc1,fluoxetine
CC(C)NCC(O)COc1cccc2ccccc12,propranolol
CC(C)NCC(O)c1ccc(O)c(O)c1,isoprenaline
CNC[C@H](O)c1ccc(O)c(O)c1,adrenaline
NCCc1ccc(O)c(O)c1,dopamine
CN1CCC[C@H]1c1cccnc1,nicotine
Cn1cnc2c1c(=O)n(C)c(=O)n2C,caffeine
Cn1c(=O)c2[nH]cnc2n(C)c1=O,theophylline
NC(=O)c1cccnc1,nicotinamide
CC(N)Cc1ccccc1,amphetamine
COc1ccccc1OCC(O)CO,guaifenesin
CN(C)CCc1c[nH]c2ccccc12,dimethyltryptamine
"""
CANDIDATES = """smiles,name,batch
CC(=O)Nc1ccc(OC)cc1,methacetin,1
CC(C)(C)NCC(O)c1ccc(O)c(CO)c1,salbutamol,1
COc1ccc(CC(C)N)cc1,PMA,2
CNC(C)C(O)c1ccccc1,ephedrine,2
[O-][N+](=O)OCC(CO[N+]([O-])=O)O[N+]([O-])=O,nitroglycerin,3
"""

Path("drugs.csv").write_text(DRUGS)
Path("candidates.csv").write_text(CANDIDATES)

detector = GraphGlass().fit(read_graphs("drugs.csv", keep="all"))
candidates = read_graphs("candidates.csv", keep="all")
scores, p_values = detector.decision_function(candidates), detector.p_values(candidates)

order = (-scores).argsort()
for place in order:
    name = candidates.columns["name"][place]
    print(f"{name:16} score {scores[place]:6.3f}  p-value {p_values[place]:.3f}")

explanation = detector.explain(candidates[order[0]])
print(f"\nWhy {candidates.columns['name'][order[0]]}?")
for reason in explanation.reasons[:3]:
    print(f"  {reason}")

write_report(detector, detector.score_table(candidates), Path("candidates.html"))
print("\nThe report with drawings is in candidates.html.")
