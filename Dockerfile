FROM python:3.11-slim-bookworm

ENV HOME=/app/home
ENV MASON_HOME=/app/home/.mason
# Whatever becomes of MASON_HOME: this server answers nobody without a token.
ENV MASON_REQUIRE_TOKEN=1
ENV PATH=/app/.venv/bin:$PATH
WORKDIR /app

RUN apt-get update && apt-get install -y --no-install-recommends openjdk-17-jre-headless && rm -rf /var/lib/apt/lists/*

COPY . /app
RUN scripts/install.sh --extras aws

# The operators that come with Mason. Leave these lines out, or register others in their place.
RUN mason register mason/examples/operators/
RUN mason register mason/examples/workflows/

# What Mason knows outlives the container: tokens, registrations, jobs, schedules. A new volume begins as a copy of this.
VOLUME /app/home/.mason

# What calls may read and write lies below this folder: none of Mason's own is there.
ENV MASON_ROOTS=/app/data
WORKDIR /app/data

EXPOSE 5000
CMD ["mason", "run", "--host", "0.0.0.0", "--port", "5000", "--create-token"]
