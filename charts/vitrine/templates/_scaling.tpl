{{/*
Scales pods by the lag of consumer groups. Takes
  root, component, values
  consumers        the group of each topic; the largest lag decides
  userVariable     of the component's container, with the user of SASL
*/}}
{{- define "vitrine.lagScaling" -}}
{{- $keda := .values.keda }}
{{- if $keda.enabled }}
{{- $name := printf "%s-%s" (include "vitrine.name" .root) .component }}
{{- $kafka := .root.Values.kafka }}
---
{{- $isSecured := or $kafka.tls.enabled (ne $kafka.sasl.mechanism "none") }}
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata:
  name: {{ $name }}
  labels:
    {{- include "vitrine.labels" . | nindent 4 }}
spec:
  scaleTargetRef: { name: {{ $name }} }
  minReplicaCount: {{ $keda.minReplicas }}
  maxReplicaCount: {{ $keda.maxReplicas }}
  triggers:
    {{- range $topic, $group := .consumers }}
    - type: apache-kafka
      metadata:
        bootstrapServers: {{ include "vitrine.bootstrapServers" $.root | quote }}
        consumerGroup: {{ $group | quote }}
        topic: {{ $topic | quote }}
        lagThreshold: {{ $keda.lagThreshold | quote }}
        activationLagThreshold: {{ $keda.activationLagThreshold | quote }}
        # A record that cannot be written must not cause more pods, which could not write it either.
        excludePersistentLag: 'true'
        allowIdleConsumers: 'false'
        {{- if $kafka.tls.enabled }}
        tls: enable
        {{- end }}
        {{- if ne $kafka.sasl.mechanism "none" }}
        sasl: {{ get (dict "plain" "plaintext" "scram-sha-256" "scram_sha256" "scram-sha-512" "scram_sha512") $kafka.sasl.mechanism }}
        {{- end }}
      {{- if $isSecured }}
      authenticationRef: { name: {{ $name }} }
      {{- end }}
    {{- end }}
{{- if $isSecured }}
---
apiVersion: keda.sh/v1alpha1
kind: TriggerAuthentication
metadata:
  name: {{ $name }}
  labels:
    {{- include "vitrine.labels" . | nindent 4 }}
spec:
  {{- if $kafka.sasl.username }}
  env:
    - { parameter: username, name: {{ .userVariable }}, containerName: {{ .component }} }
  {{- end }}
  secretTargetRef:
    {{- if ne $kafka.sasl.mechanism "none" }}
    {{- if not $kafka.sasl.username }}
    - { parameter: username, name: {{ $kafka.sasl.existingSecret }}, key: {{ $kafka.sasl.usernameKey }} }
    {{- end }}
    - { parameter: password, name: {{ $kafka.sasl.existingSecret }}, key: {{ $kafka.sasl.passwordKey }} }
    {{- end }}
    {{- if and $kafka.tls.enabled $kafka.tls.caSecret }}
    - { parameter: ca, name: {{ $kafka.tls.caSecret }}, key: {{ $kafka.tls.caKey }} }
    {{- end }}
    {{- if and $kafka.tls.enabled $kafka.tls.clientSecret }}
    - { parameter: cert, name: {{ $kafka.tls.clientSecret }}, key: {{ $kafka.tls.clientCertKey }} }
    - { parameter: key, name: {{ $kafka.tls.clientSecret }}, key: {{ $kafka.tls.clientKeyKey }} }
    {{- end }}
{{- end }}
{{- end }}
{{- end }}
