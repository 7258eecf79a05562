# make run    opens the program          make test    runs all checks
# make lock   renews requirements*.lock  make lock UPGRADE=--upgrade    moves to the newest versions (uv needed)
# make test-slow      further seeds, faults, kills, locales and drills, which `make test` leaves out
# make screenshots    pictures of every view, in screenshots/
# make bench-window   frame times and start of the real window; memory over a day: python -m tests.window_bench --day
# make words          brings the catalogues of other languages up to date with the program (assets/languages)
# run first installs what the program needs (requirements.lock); test, test-slow, screenshots and bench-window what its
# developers need as well (requirements-dev.lock), see .ci/prepare.
# make matrix         types on the other Pythons here, a minute of some drills on these, other SQLites and locales;
#                     matrix-all: all drills to their ends
# make mutants        changes the engine in places chosen at random and shows what no test notices (hours for SHARE=1);
#                     SHARE=0.02 SEED=1, OPTIONS="--quick --package engine/flow": python -m tests.mutants --help
# make fuzz           changes what SQL clients send, after what of the code it reaches: SECONDS=60; finds: build/crash-*
# make drivers        installs SQL drivers of other languages from their packages, and plays their programs against `serve`
# make hashes         renews assets/golden.json, the outcome that `doctor` expects, and the hashes in assets/par, after a
#                     change of behaviour
# make kernel         builds the libraries of the flow model's step anew, after a change of engine/flow/kernel.py

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
# Bytecode is kept even where the surroundings forbid it: the tests start hundreds of processes of the program.
# One process more than there are processors: a tenth of the tests waits for clocks and other processes.
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

# Not in the lock: only this command needs the compiler (100 MB to load, 400 MB unpacked).
kernel: prepare
	@test -x build/zig/ziglang/zig || .venv/bin/python -m pip install --quiet --disable-pip-version-check \
		--target build/zig ziglang==0.17.1
	.venv/bin/python -m tests.kernel_libraries

SHARE = 0.02
SEED = 1
# Not in the lock: only this command needs cosmic-ray, which stands behind the packages of .venv on the path.
mutants: prepare
	@test -d build/cosmic-ray/cosmic_ray || .venv/bin/python -m pip install --quiet --disable-pip-version-check \
		--target build/cosmic-ray cosmic-ray==8.7.0
	nice .venv/bin/python -m tests.mutants --share $(SHARE) --seed $(SEED) $(OPTIONS)

SECONDS = 60
# Like cosmic-ray, atheris is only here; it has wheels for Linux and macOS.
fuzz: prepare
	@test -d build/atheris/atheris || .venv/bin/python -m pip install --quiet --disable-pip-version-check \
		--target build/atheris atheris==3.0.0
	nice .venv/bin/python -m tests.app.serve.fuzz --seconds $(SECONDS)

# Needs Node, Java with Maven, Go, Rust, FreeTDS and Mono; what is not there is left out and named.
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

# The program's packages are a part of the developers': the constraint keeps their versions the same.
COMPILE = uv pip compile pyproject.toml --universal --generate-hashes --no-emit-index-url --no-annotate --no-header --quiet
lock:
	$(COMPILE) --extra dev --group install $(UPGRADE) --output-file requirements-dev.lock
	$(COMPILE) --extra discovery --group install --constraint requirements-dev.lock --output-file requirements.lock
