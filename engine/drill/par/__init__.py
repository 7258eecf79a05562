"""Par: the best that could have been done in a drill, found by trying over forks of the run.

Guarantees
    Par is the score of a plan that was played to its end in a complete drill, so it is reachable. It is a lower bound
    of the best score; the clairvoyant bound comes from a search that may act before a symptom. V(t) of a run never
    rises along the run. Results do not depend on the number of processes, and an interrupted search returns the best
    plan so far.

How it works
    A plan is a list of inputs with times. search.py improves complete plans at decision points: the whole seconds after
    something that the seat could see (observability.py). trials.py plays the neighbors of a plan there: one more
    action, the next one moved forward, or the next one left out. search_drill.py plays without recording.
    incremental_hash.py recognizes states with the same future, and noop_actions.py skips actions without effect.
    Plans with equal points are ranked by satisfied parts of goals, then by novelty. In drills with several possible
    causes, hidden_causes.py requires one plan for all causes that look the same. certificate.py replays the best plans.

Regret
    regret.py computes V(t), the best total that is still reachable, from the remaining parts of known plans
    (continuations.py). The regret of an action or a wait is the fall of V across it. After a large fall, a search from
    that moment checks the loss. cost_of_waiting.py finds the last chance. lessons.py selects mistakes worth practicing.

Why this way
    Most points are awarded at the end of a drill. A search from state to state has no result before it gets there,
    while a complete plan has an exact score at any time and proves that the drill is solvable.

Rejected
    Tree search with rollouts: most random rollouts end with equal points, so the tree learns nothing for long.
    Learned values: they cannot be proved, and a trainee could not check them. See decision 15.
"""
