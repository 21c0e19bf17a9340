{{/* Rules for egress. DSNs are in Secrets, so the ports of databases are values. Ports of brokers and providers come from their addresses. */}}
{{- define "vitrine.egressDns" -}}
- ports:
    - { port: 53, protocol: UDP }
    - { port: 53, protocol: TCP }
{{- end }}

{{- define "vitrine.egressPorts" -}}
- ports:
    {{- range . }}
    - { port: {{ . }}, protocol: TCP }
    {{- end }}
{{- end }}

{{- define "vitrine.egressDatabase" -}}
{{- include "vitrine.egressPorts" .Values.networkPolicy.databasePorts }}
{{- end }}

{{- define "vitrine.egressKafka" -}}
{{- $ports := list -}}
{{- range splitList "," (include "vitrine.bootstrapServers" .) }}
{{- $ports = append $ports (last (splitList ":" .) | int) }}
{{- end }}
{{- include "vitrine.egressPorts" (concat $ports .Values.networkPolicy.kafkaPorts | uniq) }}
{{- end }}

{{/* The egress for telemetry. Takes the configuration of a service. */}}
{{- define "vitrine.egressTelemetry" -}}
{{- $otel := dig "observability" "otel" (dict) . -}}
{{- if $otel.enabled }}
{{- $port := regexFind ":[0-9]+(/|$)" ($otel.endpoint | default "") | trimPrefix ":" | trimSuffix "/" | int -}}
{{- include "vitrine.egressPorts" (ternary (list $port) (list 4317 4318) (gt $port 0)) }}
{{- end }}
{{- end }}

{{/* Takes root, component, ingress and egress (both YAML lists, or empty). */}}
{{- define "vitrine.networkPolicy" -}}
{{- if .root.Values.networkPolicy.enabled }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ include "vitrine.name" .root }}-{{ .component }}
  labels:
    {{- include "vitrine.labels" . | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      {{- include "vitrine.selector" . | nindent 6 }}
  policyTypes: [Ingress, Egress]
  {{- with .ingress | default "" | trim }}
  ingress:
    {{- . | nindent 4 }}
  {{- end }}
  {{- with .egress | default "" | trim }}
  egress:
    {{- . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end }}
