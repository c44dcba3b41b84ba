# The service on Node. It writes no file, so run it with a read-only file system. How to pin the base image by its digest:
# docs/operate/install.md, "Try it in containers".
FROM node:24.21.0-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build

FROM node:24.21.0-slim
ENV NODE_ENV=production
# A bound of the heap: docs/operate/install.md, "Memory and stacks".
ENV NODE_OPTIONS=--max-old-space-size=256
WORKDIR /app
COPY --from=build /app/package.json ./
# What is not built in: native code.
COPY --from=build /app/node_modules/@node-rs ./node_modules/@node-rs
# The font of documents, and its licence.
COPY --from=build /app/node_modules/dejavu-fonts-ttf/LICENSE ./node_modules/dejavu-fonts-ttf/
COPY --from=build /app/node_modules/dejavu-fonts-ttf/ttf/DejaVuSansCondensed.ttf ./node_modules/dejavu-fonts-ttf/ttf/
COPY --from=build /app/server/runtime/start-node.cjs ./server/runtime/
COPY --from=build /app/build ./build
USER node
EXPOSE 3000
# Whether the process lives: one whose database is away must not be restarted.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Node itself is process 1, so that it gets the SIGTERM of a stop.
CMD ["node", "server/runtime/start-node.cjs"]
