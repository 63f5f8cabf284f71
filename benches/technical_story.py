"""What technical_session.py saves: a platform, its services, what broke and how it was mended, in the order in which it is found out.

Every observation is one that a person could write down while debugging or deploying: at most three sentences and 300 characters, but
full of what trips naive rules: URLs, connection strings, paths, versions, addresses, keys, stack frames, commands and abbreviations.
"""

ROOT = "Meridian platform"

PEOPLE = [
    ("Priya Raman", "On call for payments, priya.raman@meridian.example", "Time zone Asia/Kolkata (UTC+05:30), works 09:30-18:00"),
    ("Tomasz Zieliński", "Owns the AKS clusters; GitHub user t.zielinski-mrd", "SSH key SHA256:9xJ2k1Yv0uQm3Tz8pR5sW7bN4cE6fH1gL0dK2aV8oXs"),
    ("Dr. Hannah Weiss", "Approves schema changes, e.g. anything in V2026.11__*.sql", "Room B.2.14, phone +49 30 5550.1234 ext. 77"),
    ("Mateo Álvarez", "Wrote kubernetes/overlays/prod/kustomization.yaml", "Prefers `kubectl -n orders logs -f --since=10m` to Kibana"),
    ("J. R. Okonkwo", "Security lead, PGP 0x4AEE18F83AFDEB23", "Must sign off CVSS >= 7.0, i.e. within 48 h"),
]

# name, runtime, version, port, [what else is known]; its store, [about the store]; [about its settings]; [about its endpoint]
SERVICES = [
    ("order-api", ".NET 8.0.11", "v4.18.2", 8443,
     ["Stack: ASP.NET Core, Npgsql.EntityFrameworkCore.PostgreSQL 8.0.10, Polly v8.4.2.",
      "Health at https://order-api.uks.meridian.example:8443/healthz?full=true&format=json"],
     "orders-db",
     ["Host=pg-orders-01.postgres.database.azure.com;Port=5432;Database=orders;Username=order_api;SslMode=VerifyFull;Maximum Pool Size=80",
      "PostgreSQL 16.4 on x86_64-pc-linux-gnu, extensions pg_stat_statements 1.10 and pgvector 0.7.4",
      "postgresql://order_api@pg-orders-01.postgres.database.azure.com:5432,pg-orders-02.postgres.database.azure.com:5432/orders?target_session_attrs=read-write&sslmode=verify-full&sslrootcert=/etc/ssl/certs/DigiCertGlobalRootG2.crt.pem&application_name=order-api&connect_timeout=5&keepalives_idle=30"],
     ["ConnectionStrings__Orders comes from Key Vault https://kv-mrd-prod.vault.azure.net/secrets/orders-cs/3f9c0a1e7b",
      "Logging:LogLevel:Microsoft.EntityFrameworkCore.Database.Command=Warning"],
     ["POST /v2/orders?dryRun=false answers 202 with Location: /v2/orders/{id}", "Rate limit 120 req/min per API key, header X-RateLimit-Remaining."]),
    ("payment-worker", "Java 21.0.5", "2.7.0-rc.3+build.571", 9090,
     ["Main class com.meridian.payments.worker.PaymentWorkerApplication", "Heap -Xms512m -Xmx2g -XX:+UseZGC -XX:MaxGCPauseMillis=50"],
     "payments-queue",
     ["Endpoint=sb://ni-internal-dev.servicebus.windows.net/;SharedAccessKeyName=worker;SharedAccessKey=***;EntityPath=payments",
      "Lock duration PT1M30S, maxDeliveryCount=10. Dead letters go to payments/$DeadLetterQueue.",
      "https://ni-internal-dev.servicebus.windows.net/payments/messages/head?timeout=60&api-version=2017-04 with Authorization: SharedAccessSignature sr=https%3A%2F%2Fni-internal-dev.servicebus.windows.net%2Fpayments&sig=***&se=1763596800&skn=worker answers 204 when the queue is empty"],
     ["spring.cloud.azure.servicebus.namespace=ni-internal-dev in /app/config/application-prod.yml",
      "PAYMENTS_RETRY_BACKOFF=\"2s,4s,8s,16s\" (was 500ms until 2.6.9)"],
     ["Metrics: http://10.42.7.19:9090/actuator/prometheus", "jcmd 1 GC.heap_info works only as uid 10001"]),
    ("search-indexer", "Python 3.12.7", "1.31.4", 8080,
     ["Reindexes all 3.2 million products in 41 min. at batch size 2,500", "Image acrmrd.azurecr.io/search-indexer@sha256:7f1c2d9be04a55c1"],
     "products-index",
     ["URL: https://dvdat-uks-01-es.develastic.nidemo.com/", "Index products-v7 has 5 shards, refresh_interval=30s. Alias: products."],
     ["ES_HOSTS=https://es-01.uks.meridian.example:9200,https://es-02.uks.meridian.example:9200", "elasticsearch.yml: cluster.routing.allocation.disk.watermark.low=85%"],
     ["GET /_cat/indices/products-*?v&s=index&h=index,docs.count,store.size lists them", "curl -sS -u elastic:$ES_PW 'https://es-01.uks.meridian.example:9200/_cluster/health?pretty'"]),
    ("identity-gateway", "Go 1.23.3", "v0.9.27", 4180,
     ["Built with CGO_ENABLED=0 go build -trimpath -ldflags='-s -w -X main.version=v0.9.27' ./cmd/gateway", "Goroutine leak fixed upstream in golang.org/x/net v0.31.0.",
      "panic: runtime error: invalid memory address or nil pointer dereference [signal SIGSEGV: segmentation violation code=0x1 addr=0x18 pc=0x7a4f2c] in github.com/meridian-example/identity-gateway/internal/session.(*Store).Refresh(0x0, {0xc000a1e018, 0x24}) at internal/session/store.go:142 +0x3c"],
     "session-cache",
     ["redis://:****@redis-sess.redis.cache.windows.net:6380/3?ssl=true&timeout=2.5s", "Redis 7.2.4, maxmemory 1.5gb, maxmemory-policy allkeys-lru"],
     ["OIDC issuer https://login.microsoftonline.com/72f988bf-86f1-41af-91ab-2d7cd011db47/v2.0", "cookie_secret_file = /run/secrets/oauth2_cookie, cookie_expire = 4h0m0s"],
     ["/oauth2/callback must be registered with and without a trailing slash.", "JWKS at https://login.meridian.example/.well-known/jwks.json, kid 2026-11-A"]),
    ("shipping-bridge", "Node.js 22.11.0", "5.0.0-beta.12", 3000,
     ["Uses soap@1.1.5 for the carrier's WSDL. Why not REST? The carrier has none.", "npm ci --omit=dev takes 38.4 s on the build agents"],
     "carrier-sftp",
     ["sftp://mrd_upload@sftp.carrier.example:2222/inbound/EDI.X12/", "Host key fingerprint is MD5:1f:8a:22:0c:9e:7b:45:d0:33:61:aa:0e:5f:12:c4:9d"],
     ["NODE_OPTIONS=--max-old-space-size=1536", "config/custom-environment-variables.json maps CARRIER_TOKEN to carrier.auth.token"],
     ["POST https://ship.meridian.example/api/v1/labels/{orderId}.pdf", "Times out after 29 s, since API Gateway cuts at 30 s."]),
    ("pricing-engine", "Rust 1.83.0", "0.14.1", 50051,
     ["gRPC service meridian.pricing.v1.PricingService, proto at proto/meridian/pricing/v1/pricing.proto", "cargo build --release --locked -p pricing-engine, binary 11.6 MB"],
     "price-snapshots",
     ["s3://mrd-price-snapshots-eu-west-2/year=2026/month=11/day=18/part-00017.snappy.parquet", "Lifecycle rule: Glacier after 90 d., delete after 7 y."],
     ["RUST_LOG=pricing_engine=debug,tower_http=info,h2=warn", "[rates]\nprovider = \"ecb\"\nurl = \"https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml\""],
     ["grpcurl -d '{\"sku\":\"A-1.25\"}' pricing:50051 meridian.pricing.v1.PricingService/GetPrice", "p50 0.8 ms, p99 4.6 ms, p99.9 31 ms at 2,400 rps"]),
    ("inventory-sync", "C# / .NET Framework 4.8.1", "3.2.0.1107", 8085,
     ["Runs as a Windows service on \\\\WHS-APP-02\\d$\\Services\\InventorySync\\", "Installed by InstallUtil.exe /u, then sc.exe create; needs .NET Framework 4.8.1."],
     "warehouse-sql",
     ["Server=tcp:whs-sql-01.corp.meridian.example,1433;Initial Catalog=WMS;Integrated Security=SSPI;TrustServerCertificate=False;Connect Timeout=15",
      "SQL Server 2019 (RTM-CU28) 15.0.4385.2, collation SQL_Latin1_General_CP1_CI_AS"],
     ["C:\\Program Files\\Meridian\\InventorySync\\InventorySync.exe.config sets <add key=\"PollSeconds\" value=\"20\"/>",
      "HKLM\\SOFTWARE\\Meridian\\InventorySync\\LastRowVersion is 0x00000000075BCD15"],
     ["WCF endpoint net.tcp://whs-app-02:8085/InventorySync/mex", "Event log source 'InventorySync', IDs 1000..1042."]),
    ("notification-hub", "Kotlin 2.1.0", "1.9.9", 8181,
     ["Sends 14.7 k mails/day through smtp.eu.mailgun.example:587 (STARTTLS)", "Templates are Mustache, e.g. templates/mail/order_shipped.de-DE.mustache"],
     "notification-topic",
     ["bootstrap.servers=kafka-0.kafka.svc.cluster.local:9092,kafka-1.kafka.svc.cluster.local:9092", "Topic mrd.notifications.v3: 12 partitions, retention.ms=604800000, cleanup.policy=delete",
      "security.protocol=SASL_SSL, sasl.mechanism=OAUTHBEARER, sasl.oauthbearer.token.endpoint.url=https://login.meridian.example/oauth2/v2.0/token, sasl.login.callback.handler.class=org.apache.kafka.common.security.oauthbearer.secured.OAuthBearerLoginCallbackHandler"],
     ["ktor.deployment.port = ${?PORT} in src/main/resources/application.conf", "FCM key lies in vault kv/data/prod/notification-hub#fcm.server_key"],
     ["WebSocket wss://notify.meridian.example/ws/v3?token=<jwt>", "Answers 429 Too Many Requests! Retry-After is in seconds."]),
    ("report-builder", "R 4.4.2", "0.6.0", 8787,
     ["Rscript --vanilla -e 'rmarkdown::render(\"monthly.Rmd\", params = list(m = \"2026-10\"))'", "Needs pandoc 3.1.11 and LaTeX pkg. lmodern, otherwise: ! LaTeX Error: File `lmodern.sty' not found."],
     "reporting-warehouse",
     ["jdbc:snowflake://mrd-eu.snowflakecomputing.com/?db=ANALYTICS&schema=PUBLIC&warehouse=WH_XS&role=REPORTER", "Largest table ANALYTICS.PUBLIC.ORDER_LINES: 1.84 bn rows, 96.3 GB.",
      "SELECT o.id, o.placed_at, SUM(l.qty * l.unit_price * (1 + l.tax_rate)) AS gross FROM analytics.public.orders o JOIN analytics.public.order_lines l ON l.order_id = o.id WHERE o.placed_at >= '2026-10-01' GROUP BY 1, 2 QUALIFY ROW_NUMBER() OVER (ORDER BY gross DESC) <= 100; 8.3 s on WH_XS"],
     ["~/.Renviron: R_MAX_VSIZE=24Gb, TZ=Europe/Berlin", "Output goes to /mnt/reports/2026/11/monthly_2026-10.v2.final.pdf"],
     ["https://reports.meridian.example/?report=monthly&from=2026-10-01T00:00:00Z&to=2026-10-31T23:59:59Z", "Shiny times out: idle_timeout 300; in shiny-server.conf"]),
    ("legacy-erp", "COBOL, IBM z/OS V2R5", "R14.2", 1414,
     ["Nightly job MRDP0450 starts at 01:15 CET and must end by 05:00 CET.", "JCL in MRD.PROD.JCLLIB(ORDEXP), COND=(4,LT)"],
     "mq-series",
     ["Channel MRD.SVRCONN on mq01.corp.meridian.example(1414), queue manager QMPROD1", "AMQ9208E: Error on receive from host 172.16.3.9. Rc=10054 (X'2746')."],
     ["CCSID 1141 on the host vs. UTF-8 in the bridge: '€' becomes 0x9F", "MAXDEPTH(50000) MSGDLVSQ(PRIORITY) DEFPSIST(YES)"],
     ["TN3270 at erp.corp.meridian.example:992, LU name MRDT0017", "Screen ORD1 shows at most 99 lines, cf. manual ERP-UG-14.2, ch. 3.1.4"]),
    ("edge-proxy", "Envoy 1.32.1", "2026.11.3", 443,
     ["Listener 0.0.0.0:443, admin on 127.0.0.1:9901, also [::1]:9901", "Route match: safe_regex ^/api/v[0-9]+/(orders|labels)/[^/]+\\.json$"],
     "edge-certificates",
     ["CN=*.meridian.example, SANs meridian.example and www.meridian.example, serial 04:9F:3C:71:AA", "Renewed by cert-manager v1.16.1 with DNS-01; notAfter=Feb 14 09:12:55 2027 GMT"],
     ["/etc/envoy/envoy.yaml: per_connection_buffer_limit_bytes: 32768", "overload_manager: envoy.overload_actions.stop_accepting_requests at 0.95"],
     ["curl -vk --resolve www.meridian.example:443:20.90.131.7 https://www.meridian.example/", "HTTP/3 is announced by alt-svc: h3=\":443\"; ma=86400"]),
    ("batch-scheduler", "Airflow 2.10.3", "2026.46", 8793,
     ["DAG orders_export_v2 runs at */15 6-22 * * 1-5 (Europe/London)", "Executor KubernetesExecutor, namespace airflow, pod template /opt/airflow/pod_templates/default.yaml"],
     "airflow-metadata",
     ["postgresql+psycopg2://airflow:***@10.42.0.11:5432/airflow?sslmode=require&application_name=airflow-scheduler", "airflow db clean --clean-before-timestamp '2026-08-01' freed 18.2 GB"],
     ["AIRFLOW__CORE__PARALLELISM=64, AIRFLOW__CORE__MAX_ACTIVE_TASKS_PER_DAG=16", "[secrets] backend = airflow.providers.microsoft.azure.secrets.key_vault.AzureKeyVaultBackend"],
     ["UI https://airflow.meridian.example/dags/orders_export_v2/grid?dag_run_id=scheduled__2026-11-18T06%3A15%3A00%2B00%3A00", "REST: PATCH /api/v1/dags/orders_export_v2 {\"is_paused\": true}"]),
]

# incident, service, [about it]; error, [about it]; log file; commit, [about it]; runbook step
INCIDENTS = [
    ("INC-20931", "order-api",
     ["2026-11-14T03:12:44.918Z to 04:40Z: 38 % of POST /v2/orders failed with 503", "Was it the deploy? No: v4.18.1 had run for 6 days."],
     "Npgsql 53300", ["53300: sorry, too many clients already. Pool size 80 × 6 pods > max_connections 400.", "at Npgsql.Internal.NpgsqlConnector.Open(NpgsqlTimeout timeout, Boolean async) in /_/src/Npgsql/NpgsqlConnector.cs:line 412"],
     "/var/log/containers/order-api-7c9d5b6f4-x2x8q_orders_api-0f3e.log",
     "3fa9c1d", ["PgBouncer 1.23.1 in transaction mode in front of orders-db; max_client_conn=2000, default_pool_size=40", "git revert -m 1 3fa9c1d undoes it"],
     "SELECT count(*), state FROM pg_stat_activity WHERE datname = 'orders' GROUP BY state;"),
    ("INC-20977", "payment-worker",
     ["Messages older than 00:10:00 in payments/$DeadLetterQueue: 1,204 at 11:05 UTC", "Root cause: lock lost, i.e. processing took 94.3 s with a lock of 90 s."],
     "MessageLockLostException", ["com.azure.messaging.servicebus.ServiceBusException: The lock supplied is invalid. Either the lock expired, or the message has already been removed.",
                                  "at com.meridian.payments.worker.Handler$Inner.lambda$handle$3(Handler.java:217) ~[classes!/:2.7.0-rc.3]"],
     "https://log.meridian.example/app/discover#/?_g=(time:(from:now-24h,to:now))&_a=(query:(match_phrase:(svc:payment-worker)))",
     "b71e004", ["maxAutoLockRenewDuration=PT5M, prefetchCount 0 instead of 300", "Tested with toxiproxy: toxic latency=60000, jitter=2500"],
     "az servicebus queue show -g rg-mrd-prod --namespace-name ni-internal-dev -n payments --query countDetails.deadLetterMessageCount"),
    ("INC-21004", "search-indexer",
     ["Cluster was red from 07:58 until 08:31; 2 of 5 primaries unassigned", "Disk of es-02 at 96.1 %, flood stage is 95 %."],
     "cluster_block_exception", ["{\"type\":\"cluster_block_exception\",\"reason\":\"index [products-v7] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark];\"}",
                                 "elasticsearch.exceptions.TransportError(429, 'search_phase_execution_exception')"],
     "/usr/share/elasticsearch/logs/docker-cluster-2026-11-16-3.json.gz",
     "9c0d7f2", ["ILM policy products: rollover at 40gb or 7d; warm phase forcemerge max_num_segments=1", "Reverted es.bulk.size 25mb -> 10mb. Why 10? See docs/adr/0031-bulk-size.md."],
     "PUT products-v7/_settings {\"index.blocks.read_only_allow_delete\": null}"),
    ("INC-21018", "identity-gateway",
     ["Login loop for Safari 17.6 only: Set-Cookie had SameSite=None without Secure", "Affected 2,113 of 48,900 sessions (4.3 %), cf. dashboard d/oauth-403"],
     "AADSTS50011", ["AADSTS50011: The redirect URI 'https://app.meridian.example/oauth2/callback/' does not match the redirect URIs configured for the application.",
                     "Trace ID: 8f14e45f-ceea-467f-a0e6-1f3c2b990100, timestamp 2026-11-17 16:20:05Z"],
     "C:\\Users\\p.raman\\AppData\\Local\\Temp\\safari-17.6.har",
     "e5b2a90", ["proxy_cookie_flags ~ secure samesite=none; in nginx.conf", "Unit test: go test ./internal/cookie -run 'TestSameSite/(safari|ios)_1[67]' -count=1"],
     "openssl s_client -connect login.meridian.example:443 -servername login.meridian.example </dev/null 2>/dev/null | openssl x509 -noout -dates"),
    ("INC-21040", "inventory-sync",
     ["Stock was 0 for 312 SKUs between 22:00 and 23:47 CET", "Clock of WHS-APP-02 was 7 min. 12 s. ahead: w32tm /query /status said Source: Local CMOS Clock"],
     "System.OverflowException", ["System.OverflowException: Arithmetic operation resulted in an overflow.\r\n   at Meridian.Inventory.RowVersion.ToInt32(Byte[] v) in D:\\a\\1\\s\\src\\RowVersion.cs:line 58",
                                  "Event ID 1026, Faulting module KERNELBASE.dll, version 10.0.20348.2762"],
     "\\\\whs-app-02\\logs$\\InventorySync\\2026-11-17.log",
     "07d4cc8", ["RowVersion is Int64 now, see https://github.com/meridian-example/inventory/pull/882/files#diff-3c1f", "msbuild InventorySync.sln /t:Rebuild /p:Configuration=Release;Platform=x64 /v:m"],
     "w32tm /config /manualpeerlist:\"0.uk.pool.ntp.org,0x8 1.uk.pool.ntp.org,0x8\" /syncfromflags:manual /update"),
    ("INC-21066", "edge-proxy",
     ["TLS alert 42 (bad_certificate) from 203.0.113.0/24 and 2001:db8:85a3::/48", "Half of the edge nodes (3/6) still served serial 03:D1:77:20:1B."],
     "upstream_reset_before_response_started", ["upstream connect error or disconnect/reset before headers. reset reason: connection termination", "%RESPONSE_FLAGS% was UC, duration 15001 ms, upstream 10.42.9.31:8443"],
     "/var/log/envoy/access.log.1",
     "c44f1aa", ["SDS via /etc/envoy/sds/tls.yaml with watched_directory: /etc/envoy/sds", "kubectl rollout restart ds/envoy -n edge took 6 m 40 s"],
     "for n in $(kubectl get no -o name); do echo \"$n\"; kubectl debug $n -q --image=curlimages/curl:8.11.0 -- curl -sv https://127.0.0.1; done"),
]

# release, services, [about it]; pipeline, [..]; migration, [..]; flag, [..]
RELEASES = [
    ("Release 2026.46.0", ("order-api", "pricing-engine"), ["Tag release/2026.46.0 on 4be1d0c, cut 2026-11-12 14:00 UTC", "Changelog: CHANGELOG.md#2026460---2026-11-12"],
     "pipeline-orders", ["azure-pipelines.yml@refs/tags/ci-v3.2, pool vmImage: ubuntu-24.04", "Build 20261112.7 took 00:14:52"],
     "V2026.11.12__order_line_tax.sql", ["ALTER TABLE order_line ADD COLUMN tax_rate numeric(5,4) NOT NULL DEFAULT 0.2000;", "Lock time 0.31 s on 41.7 M rows. Backfill ran apart, 5,000 rows a batch."],
     "orders.tax-v2", ["LaunchDarkly key orders.tax-v2, 25 % since 2026-11-13T08:00:00+00:00", "Off switch: ld-cli flags update --flag orders.tax-v2 --env production --off"]),
    ("Release 2026.46.1", ("payment-worker", "notification-hub"), ["Hotfix for INC-20977; contains b71e004 only", "Rolled out 10 % -> 50 % -> 100 % in 35 min"],
     "pipeline-payments", [".github/workflows/deploy.yml uses actions/checkout@v4.2.2 and azure/login@v2", "Runner labels [self-hosted, linux, x64, payments]"],
     "V2026.11.14.1__dead_letter_audit.sql", ["CREATE INDEX CONCURRENTLY ix_dla_enqueued ON dead_letter_audit (enqueued_at) WHERE resolved_at IS NULL;", "Flyway checksum -1387219034"],
     "payments.lock-renewal", ["Env var FEATURE_PAYMENTS__LOCK_RENEWAL=true overrides it", "Default is off in values.dev.yaml, on in values.prod.yaml.",
      "helm template payments ./charts/payments -f values.prod.yaml --set-string 'env.FEATURE_PAYMENTS__LOCK_RENEWAL=true' --set image.tag=2.7.0-rc.3_build.571 | kubeconform -strict -kubernetes-version 1.30.6 -schema-location default -summary found 14 resources: 14 valid, 0 invalid, 0 errors, 0 skipped"]),
    ("Release 2026.47.0", ("search-indexer", "identity-gateway"), ["Helm chart meridian/search 0.31.4, appVersion 1.31.4", "helm upgrade --install search meridian/search -f values.prod.yaml --atomic --timeout 10m0s"],
     "pipeline-search", ["Jenkinsfile stage('Publish') pushes to acrmrd.azurecr.io/search-indexer:1.31.4-g9c0d7f2", "Agent jnk-agent-04.corp.meridian.example, label docker&&!arm64"],
     "reindex-products-v7-to-v8.json", ["POST _reindex?slices=auto&wait_for_completion=false {\"source\":{\"index\":\"products-v7\"},\"dest\":{\"index\":\"products-v8\"}}", "Task id oTUltX4IQMOUUVeiohTt8A:12345, ended after 1.7 h"],
     "search.synonyms", ["synonyms_path: analysis/synonyms.en-GB.txt, 1,911 lines", "A/B test: CTR 12.4 % vs. 11.8 % (p = 0.03)"]),
    ("Release 2026.47.1", ("edge-proxy", "batch-scheduler"), ["Only config: envoy.yaml and airflow.cfg", "Approved by J. R. Okonkwo on 2026-11-18, change CHG0048812"],
     "pipeline-edge", ["Argo CD app edge-prod, targetRevision 2026.11.3, syncPolicy automated {prune: true, selfHeal: true}", "https://argocd.meridian.example/applications/argocd/edge-prod?view=tree&resource="],
     "terraform-edge-plan", ["Plan: 3 to add, 1 to change, 0 to destroy.", "azurerm_public_ip.edge[\"uks\"]: ip_address 20.90.131.7 -> (known after apply)"],
     "edge.http3", ["envoy runtime key edge.http3.enabled, fraction 1000/1000000", "Chrome 131.0.6778.69 ok; curl 8.11.0 needs --http3-only to show errors."]),
]

# name, type, [about it], [(target, relation)]
HOSTS = [
    [("whs-app-02", "Host", ["Windows Server 2022 21H2 build 20348.2762, 10.8.4.22/22, MAC 00-15-5D-01-7A-3C", "RDP only via bastion.corp.meridian.example:3389, idle limit 15 min."],
      [("inventory-sync", "runs"), (ROOT, "part of")]),
     ("es-02", "Host", ["i3.2xlarge at 10.42.3.32, /dev/nvme0n1 1.9 TB, XFS mounted noatime", "vm.max_map_count=262144 in /etc/sysctl.d/99-elastic.conf"],
      [("products-index", "stores"), ("INC-21004", "was cause of")]),
     ("mq01", "Host", ["RHEL 8.10, IBM MQ 9.3.0.25, /var/mqm 88 % full", "dspmq -o status: QMNAME(QMPROD1) STATUS(Running)"], [("mq-series", "runs"), ("legacy-erp", "serves")]),
     ("bastion", "Host", ["ssh -J ops@bastion.corp.meridian.example:22 tz@10.42.0.11 -i ~/.ssh/id_ed25519_mrd", "fail2ban bans after 5 tries in 10m."],
      [("Tomasz Zieliński", "run by"), ("whs-app-02", "leads to")])],
    [("meridian.example zone", "DnsZone", ["www 300 IN A 20.90.131.7, www 300 IN AAAA 2603:1020:700::1f", "NS ns1-04.azure-dns.com. and ns2-04.azure-dns.net."], [("edge-proxy", "points to"), (ROOT, "part of")]),
     ("SPF record", "DnsRecord", ["v=spf1 include:mailgun.example ip4:198.51.100.25 -all", "Checked by dig +short TXT meridian.example @1.1.1.1"], [("meridian.example zone", "part of"), ("notification-hub", "needed by")]),
     ("wildcard certificate 2027", "Certificate", ["SHA-256 fingerprint 5E:9B:0C:77:1D:...:A4, RSA 3072, issuer CN=R11,O=Let's Encrypt,C=US", "CAA 0 issue \"letsencrypt.org; validationmethods=dns-01\""],
      [("edge-certificates", "renews"), ("INC-21066", "answers")]),
     ("vnet peering uks-euw", "Network", ["vnet-mrd-uks 10.42.0.0/16 <-> vnet-mrd-euw 10.43.0.0/16, latency 9.8 ms", "UDR 0.0.0.0/0 -> 10.40.0.4 (Azure Firewall)"], [("AKS uks", "connects"), ("AKS euw", "connects")])],
    [("alert OrderErrors", "Alert", ["expr: sum(rate(http_requests_total{job=\"order-api\",code=~\"5..\"}[5m])) / sum(rate(http_requests_total{job=\"order-api\"}[5m])) > 0.02", "for: 10m, severity: page, runbook_url: https://wiki.meridian.example/x/AoBfEw"],
      [("order-api", "watches"), ("INC-20931", "announced"), ("Priya Raman", "wakes")]),
     ("dashboard oauth-403", "Dashboard", ["https://grafana.meridian.example/d/oauth-403/login?orgId=1&refresh=30s&var-env=prod", "Panel 4 uses increase(), not rate(): the numbers are per 1 h."], [("identity-gateway", "shows"), ("INC-21018", "showed")]),
     ("postmortem 2026-11", "Document", ["docs/postmortems/2026-11.md, 5 incidents, MTTR 61 min (Oct.: 94 min)", "Action items: 11 open, 4 done; review on Thu., 26 Nov. 2026 at 15:00"],
      [("INC-20931", "describes"), ("INC-20977", "describes"), ("Dr. Hannah Weiss", "reviewed by")]),
     ("backup policy", "Policy", ["RPO 15 min, RTO 4 h; restore test every 1st Mon. of the quarter", "rsync -aHAX --delete /srv/backup/ backup@10.44.1.5::mrd/daily.0/ && echo $?"], [("orders-db", "covers"), ("airflow-metadata", "covers"), (ROOT, "part of")])],
]


def entity(name, kind, observations, *relations):
    return {"name": name, "entityType": kind, "observations": list(observations),
            "relations": [{"targetEntity": target, "relationType": relation} for target, relation in relations]}


def platform():
    root = entity(ROOT, "Platform", ["Order platform of Meridian Ltd., ca. 40 services on 2 AKS clusters", "Repository https://github.com/meridian-example/platform.git, default branch main"])
    root["isRoot"] = True
    return [root,
            entity("AKS uks", "Cluster", ["aks-mrd-prod-uks, Kubernetes v1.30.6, API https://aks-mrd-uks-7d2c1.hcp.uksouth.azmk8s.io:443", "Node pool np1: 6 × Standard_D8s_v5, max. 110 pods each"], (ROOT, "part of"), ("acrmrd", "pulls from")),
            entity("AKS euw", "Cluster", ["aks-mrd-dr-euw, Kubernetes v1.29.10, stands by. Failover takes approx. 25 min."], (ROOT, "part of"), ("AKS uks", "stands in for"), ("acrmrd", "pulls from")),
            entity("acrmrd", "Registry", ["acrmrd.azurecr.io, geo-replicated to westeurope", "az acr login -n acrmrd --expose-token gives a token for 3 h"], (ROOT, "part of"), ("AKS uks", "serves"))]


def people():
    return [entity(name, "Person", facts, (ROOT, "works on"), (PEOPLE[n - 1][0], "works with"), *([("AKS uks", "runs")] if n == 1 else []))
            for n, (name, *facts) in enumerate(PEOPLE)]


def service(n, row):
    name, runtime, version, port, facts, store, about_store, settings, endpoint = row
    cluster, owner = ("AKS uks", "AKS euw")[n % 2], PEOPLE[n % len(PEOPLE)][0]
    earlier = SERVICES[n - 1][0] if n else ROOT
    return [entity(name, "Service", [f"{runtime}, version {version}, listens on port {port}", *facts], (cluster, "runs on"), (store, "uses"), (owner, "owned by"), (earlier, "works with")),
            entity(store, "DataStore", about_store, (name, "used by"), (cluster, "reached from")),
            entity(f"{name} settings", "Configuration", settings, (name, "configures"), (store, "names")),
            entity(f"{name} endpoint", "Endpoint", endpoint, (name, "belongs to"), (f"{name} settings", "set up by")),
            entity(f"{name} {version}", "Image", [f"acrmrd.azurecr.io/{name}:{version.replace('+', '_')}, {90 + 13 * n}.{n} MB, built 2026-11-{n + 1:02d}T0{n % 10}:17:{n + 20}Z"], (name, "image of"), ("acrmrd", "stored in"))]


def incident(n, row):
    name, service_name, facts, error, about_error, log, commit, about_commit, step = row
    owner = PEOPLE[(n + 2) % len(PEOPLE)][0]
    return [entity(name, "Incident", facts, (service_name, "affected"), (error, "showed as"), (owner, "handled by")),
            entity(error, "ErrorCode", about_error, (name, "seen in"), (service_name, "raised by")),
            entity(f"log of {name}", "LogFile", [log, f"{n + 2} matches for {error.split()[-1]} on 2026-11-{14 + n // 2}"], (name, "evidence for"), (error, "contains")),
            entity(f"commit {commit}", "Commit", about_commit, (name, "fixes"), (f"{service_name} settings", "changes"), (owner, "written by")),
            entity(f"runbook {name}", "Runbook", [step, f"docs/runbooks/{service_name}.md#{name.lower()}"], (name, "written after"), (f"log of {name}", "reads"))]


def release(n, row):
    name, services, facts, pipeline, about_pipeline, migration, about_migration, flag, about_flag = row
    first, second = services
    return [entity(name, "Release", facts, (first, "ships"), (second, "ships"), (pipeline, "built by")),
            entity(pipeline, "Pipeline", about_pipeline, (first, "builds"), ("acrmrd", "pushes to")),
            entity(migration, "Migration", about_migration, (name, "part of"), (f"{first} settings", "changes")),
            entity(flag, "FeatureFlag", about_flag, (first, "switches"), (name, "introduced in"))]


def story():
    """The calls of the session, each a list of entities that refers to itself and to earlier calls."""
    calls = [platform(), people()]
    calls += [service(n, row) for n, row in enumerate(SERVICES)]
    calls += [incident(n, row) for n, row in enumerate(INCIDENTS)]
    calls += [release(n, row) for n, row in enumerate(RELEASES)]
    calls += [[entity(name, kind, facts, *relations) for name, kind, facts, relations in group] for group in HOSTS]
    return calls
