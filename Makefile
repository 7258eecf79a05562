# make run            opens the program; the first call installs what it needs (requirements.lock)
# make test           runs all checks; the first call also installs requirements-dev.lock (.ci/prepare)
# make test-slow      runs the tests that `make test` skips: more seeds, faults, kills, locales and drills
# make lock           renews requirements*.lock; with UPGRADE=--upgrade, to the newest versions (needs uv)
# make words          updates the translation catalogs in assets/languages from the texts of the program
# make screenshots    draws a picture of every view in screenshots/
# make bench-window   measures frame times and the start of the window; memory over a day:
#                     python -m tests.window_bench --day
# make matrix         checks types with the other installed Pythons, and plays a minute of some drills with each of
#                     them, with other SQLites and in other locales; matrix-all plays all drills to their ends
# make mutants        changes the engine at random places and shows what no test detects (hours with SHARE=1); options:
#                     SHARE=0.02 SEED=1 OPTIONS="--quick --package engine/flow", see python -m tests.mutants --help
# make fuzz           mutates the messages of SQL clients, guided by code coverage: SECONDS=60; saves build/crash-*
# make drivers        installs SQL drivers of other languages, and runs their programs against `serve`
# make hashes         renews assets/golden.json, which `doctor` compares, and the hashes in assets/par, after a change
#                     of behavior
# make kernel         rebuilds the libraries of the flow model's step after a change of engine/flow/kernel.py

.PHONY: kernel run test test-slow format lint types matrix matrix-all hashes mutants fuzz drivers pytest prepare lock screenshots bench-window words

run:
	@sh .ci/prepare run
	@.venv/bin/mirrordrill

test: format lint types matrix pytest
test-slow format lint types matrix matrix-all hashes pytest: prepare
prepare:
	@sh .ci/prepare test
format:
	.venv/bin/ruff format --check
lint:
	.venv/bin/ruff check
	.venv/bin/vulture
	.venv/bin/python -m tests.commit_subjects
	.venv/bin/python -m tests.prose
types:
	.venv/bin/mypy
# Bytecode is written even if the environment forbids it, because the tests start hundreds of processes of the program.
# There is one process more than processors, because a tenth of the tests wait for clocks and other processes.
PROCESSES = $$(($$(getconf _NPROCESSORS_ONLN) + 1))
PYTEST = QT_QPA_PLATFORM=offscreen PYTHONDONTWRITEBYTECODE= .venv/bin/pytest --numprocesses $(PROCESSES) --dist worksteal
pytest:
	$(PYTEST)
test-slow:
	$(PYTEST) -m slow

matrix:
	nice .venv/bin/python -m tests.python_types
	nice .venv/bin/python -m tests.matrix --together --sample --until 60
matrix-all:
	.venv/bin/python -m tests.python_types
	.venv/bin/python -m tests.matrix
hashes:
	.venv/bin/mirrordrill doctor --renew-replay assets/golden.json
	.venv/bin/python -m tests.par_proofs --renew
	.venv/bin/python -m tests.error_numbers --summaries

# The compiler is not in the lock file, because only this command needs it (100 MB to download, 400 MB on disk).
kernel: prepare
	@test -x build/zig/ziglang/zig || .venv/bin/python -m pip install --quiet --disable-pip-version-check \
		--target build/zig ziglang==0.17.1
	.venv/bin/python -m tests.kernel_libraries

SHARE = 0.02
SEED = 1
# cosmic-ray is not in the lock file, because only this command needs it. The packages in .venv precede it on the path.
mutants: prepare
	@test -d build/cosmic-ray/cosmic_ray || .venv/bin/python -m pip install --quiet --disable-pip-version-check \
		--target build/cosmic-ray cosmic-ray==8.7.0
	nice .venv/bin/python -m tests.mutants --share $(SHARE) --seed $(SEED) $(OPTIONS)

SECONDS = 60
# atheris is not in the lock file either. It has wheels for Linux and macOS.
fuzz: prepare
	@test -d build/atheris/atheris || .venv/bin/python -m pip install --quiet --disable-pip-version-check \
		--target build/atheris atheris==3.0.0
	nice .venv/bin/python -m tests.app.serve.fuzz --seconds $(SECONDS)

# Needs Node, Java with Maven, Go, Rust, FreeTDS and Mono. It skips those that are missing, and names them.
drivers: prepare
	.venv/bin/python -m tests.drivers.run
	.venv/bin/python -m tests.drivers.profiles

screenshots: prepare
	QT_QPA_PLATFORM=offscreen .venv/bin/python -m tests.screenshots screenshots

bench-window: prepare
	QT_QPA_PLATFORM=offscreen .venv/bin/python -m tests.window_bench

words: prepare
	@mkdir -p build
	PYTHONPATH=. .venv/bin/pybabel -q extract --no-default-keywords --keyword="tr mark build_message trn:1,2" \
		--mapping-file=.ci/babel.cfg --project=Mirrordrill \
		--add-location=file --sort-by-file --width=110 --output-file=build/words.pot app engine
	@for po in assets/languages/*.po; do language=$$(basename $$po .po); \
		.venv/bin/pybabel -q update --locale=$$language --input-file=build/words.pot --output-file=$$po \
			--no-fuzzy-matching --ignore-obsolete --ignore-pot-creation-date --width=110; \
		.venv/bin/pybabel compile --statistics --locale=$$language --input-file=$$po --output-file=$${po%.po}.mo; done

# The constraint gives users the same versions of packages as developers.
COMPILE = uv pip compile pyproject.toml --universal --generate-hashes --no-emit-index-url --no-annotate --no-header --quiet
lock:
	$(COMPILE) --extra dev --group install $(UPGRADE) --output-file requirements-dev.lock
	$(COMPILE) --extra discovery --group install --constraint requirements-dev.lock --output-file requirements.lock
