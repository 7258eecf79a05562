# make run    opens the program          make test    runs all checks
# make lock   renews requirements.lock   (uv needed; add --upgrade by make lock UPGRADE=--upgrade)
# Both create .venv and install what is missing, see .ci/prepare.

.PHONY: run test lock

run:
	@sh .ci/prepare xcb
	@.venv/bin/mirrordrill

test: export QT_QPA_PLATFORM = offscreen
test:
	@sh .ci/prepare offscreen
	.venv/bin/ruff format --check
	.venv/bin/ruff check
	.venv/bin/mypy
	.venv/bin/pytest --numprocesses auto

lock:
	uv pip compile --universal --generate-hashes --no-emit-index-url --no-annotate --no-header --extra dev \
		$(UPGRADE) --quiet --output-file requirements.lock pyproject.toml
