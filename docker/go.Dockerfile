# The Go API of tests/apps, for compose.yaml: one static binary, built without a network.
ARG BASE=debian:12-slim
FROM ${BASE} AS build
COPY docker/packages.sh /packages.sh
RUN /packages.sh install go
WORKDIR /src
COPY tests/apps/go .
ENV GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local CGO_ENABLED=0
RUN go build -trimpath -o /catalogue .

FROM scratch
COPY --from=build /catalogue /catalogue
ENV LISTEN=0.0.0.0:4000
USER 65532:65532
EXPOSE 4000
HEALTHCHECK --interval=5s --timeout=3s --retries=10 CMD ["/catalogue", "healthcheck"]
ENTRYPOINT ["/catalogue"]
