# The Rails API of tests/apps, for compose.yaml. Debian's gems: nothing is fetched but packages.
ARG BASE=debian:12-slim
FROM ${BASE}
COPY docker/packages.sh /packages.sh
RUN /packages.sh install rails && rm -rf /packages.sh /var/lib/apt/lists/*
COPY tests/apps/rails /app
WORKDIR /app
ENV RAILS_ENV=production DATABASE=/tmp/shop.sqlite THREADS=5
USER 65532:65532
EXPOSE 3000
HEALTHCHECK --interval=5s --timeout=3s --retries=10 \
    CMD ["ruby", "-rnet/http", "-e", "exit Net::HTTP.get_response(URI('http://127.0.0.1:3000/up')).is_a?(Net::HTTPOK)"]
# exec: Puma has to get SIGTERM itself.
CMD ["/bin/sh", "-c", "exec puma -b tcp://0.0.0.0:3000 -t \"$THREADS:$THREADS\" -w 0 -e production config.ru"]
