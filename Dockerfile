# The image of the service: sources, the built console, production packages and Node, without the bundled Node and
# PostgreSQL. It runs as an unprivileged user and needs no writable file system, if files are in S3. A worker runs the
# same image with the command `node src/worker.ts`. docs/deployment.md says how to use it.
ARG NODE_IMAGE=docker.io/library/node:24.21.0-bookworm-slim

FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json ./
COPY scripts/setup.mjs scripts/lock.mjs scripts/generate-prisma-client.cjs scripts/build-console.mjs scripts/
COPY packages packages
COPY tools/setup tools/setup
COPY prisma/schema.prisma prisma/schema.prisma
RUN node scripts/setup.mjs --production
COPY web web
COPY src/languages src/languages
RUN node scripts/build-console.mjs --required

FROM ${NODE_IMAGE}
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
# Limits for V8 and malloc, for every process of the image, see docs/deployment.md.
ENV NODE_OPTIONS="--max-semi-space-size=16 --max-old-space-size=512" MALLOC_ARENA_MAX=2
# DATA_DIR is used only without S3: mount a volume there.
RUN mkdir /data && chown 10001:10001 /data
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY package.json LICENSE ./
COPY packages packages
COPY prisma/migrations prisma/migrations
COPY docs docs
COPY assets assets
COPY src src
COPY --from=packages /app/src/db/generated src/db/generated
COPY web/pages web/pages
COPY --from=packages /app/web/dist web/dist
USER 10001:10001
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", \
    "fetch('http://127.0.0.1:' + process.env.PORT + '/health').then(({ ok }) => process.exit(ok ? 0 : 1))"]
CMD ["node", "src/server.ts"]
