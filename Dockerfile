# The board without models: browse, rank, compare, choose. For Try, install "/source[compute]" (6.5 GB).
FROM python:3.12-slim
RUN --mount=type=bind,target=/source,rw pip install --no-cache-dir /source
RUN useradd --create-home likeness
USER likeness
ENV LIKENESS_HOME=/home/likeness/data GRADIO_ANALYTICS_ENABLED=False
RUN likeness build
EXPOSE 7860
HEALTHCHECK --start-period=30s CMD python -c "from urllib.request import urlopen; urlopen('http://127.0.0.1:7860/robots.txt', timeout=5)"
CMD ["likeness", "--host", "0.0.0.0", "--port", "7860"]
