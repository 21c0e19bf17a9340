{{/* Names and numbers of files/names.yaml, which is generated from the services. Takes the root. Read it with fromYaml. */}}
{{- define "vitrine.shared" -}}
{{ .Files.Get "files/names.yaml" }}
{{- end }}

{{/* The port of a component's HTTP server. Takes root and component. */}}
{{- define "vitrine.port" -}}
{{ get (include "vitrine.shared" .root | fromYaml).ports .component | int }}
{{- end }}

{{/* The maximum number of Postgres connections of all pods: of all replicas at their maximum, of one more pod of each component during its
     replacement, and of migrations. */}}
{{- define "vitrine.databaseConnections" -}}
{{- $shared := include "vitrine.shared" . | fromYaml -}}
{{- $sum := ternary 2 0 .Values.migrations.enabled -}}
{{- $blocks := dict "gateway" .Values.gateway "trace-writer" .Values.traceWriter "store-api" .Values.storeApi -}}
{{- $blocks = merge $blocks (dict "enrich-scan-queue" .Values.enrichScanQueue "operator" .Values.operator) -}}
{{- range $component, $connections := $shared.connections }}
{{- $values := get $blocks $component -}}
{{- if dig "enabled" true $values }}
{{- range $key, $default := dig $component (dict) $shared.connection_keys }}
{{- $connections = add $connections (sub (dig "config" "storage" $key $default $values) $default) -}}
{{- end }}
{{- $sum = add $sum (mul $connections (add 1 (include "vitrine.maxReplicas" $values))) -}}
{{- end }}
{{- end }}
{{- $sum -}}
{{- end }}

{{/* `max_connections` of the server; 0 if it is unknown. */}}
{{- define "vitrine.maxConnections" -}}
{{ ternary .Values.dev.postgres.maxConnections .Values.database.maxConnections (and .Values.dev.enabled (empty .Values.database.existingSecret)) }}
{{- end }}
