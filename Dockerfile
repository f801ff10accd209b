# `glass serve` from a wheel:
#   python -m build --wheel
#   docker build -t graphglass .
#   docker run -p 8000:8000 -v "$PWD/data:/data" -v "$PWD/token.txt:/run/token:ro" graphglass
# The model is data/model. Mount its parent folder: the change log is written next to the model.
FROM python:3.11.16-slim-trixie@sha256:9c900dea9e8fb7e16277c179b555cc72d29a352dbc33cff48ad5a0412fd5bfc7

COPY constraints.txt dist/graphglass-*.whl /tmp/
RUN set -- /tmp/graphglass-*.whl \
    && python -m pip install --no-cache-dir --constraint /tmp/constraints.txt "$1[serve,chem]" \
    && rm /tmp/*.whl /tmp/constraints.txt \
    && useradd --create-home --uid 1000 glass

USER 1000
# Compiled kernels are kept here.
ENV NUMBA_CACHE_DIR=/home/glass/.cache/numba OMP_NUM_THREADS=1
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=120s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
ENTRYPOINT ["glass", "serve"]
CMD ["/data/model", "--host", "0.0.0.0", "--token-file", "/run/token"]
