{{- define "vitrine.bootstrapServers" -}}
{{- if and .Values.dev.enabled (not .Values.kafka.bootstrapServers) -}}
{{ include "vitrine.name" . }}-dev-kafka.{{ .Release.Namespace }}.svc:9092
{{- else -}}
{{ .Values.kafka.bootstrapServers }}
{{- end -}}
{{- end }}

{{/* Variables for the topic of traces. Takes root and prefix, such as SVC_QUEUE. */}}
{{- define "vitrine.kafkaEnv" -}}
{{ include "vitrine.brokersEnv" . }}
- name: {{ .prefix }}_TOPIC
  value: {{ .root.Values.kafka.topic | quote }}
{{- end }}

{{/* Variables for the brokers. Takes root and prefix. */}}
{{- define "vitrine.brokersEnv" -}}
{{- $kafka := .root.Values.kafka -}}
- name: {{ .prefix }}_BROKERS
  value: {{ include "vitrine.bootstrapServers" .root | quote }}
{{- if $kafka.tls.enabled }}
- name: {{ .prefix }}_TLS_ENABLED
  value: 'true'
{{- if $kafka.tls.caSecret }}
- name: {{ .prefix }}_TLS_CA_PATH
  value: /etc/vitrine/kafka-ca/{{ $kafka.tls.caKey }}
{{- end }}
{{- if $kafka.tls.clientSecret }}
- name: {{ .prefix }}_TLS_CERT_PATH
  value: /etc/vitrine/kafka-client/{{ $kafka.tls.clientCertKey }}
- name: {{ .prefix }}_TLS_KEY_PATH
  value: /etc/vitrine/kafka-client/{{ $kafka.tls.clientKeyKey }}
{{- end }}
{{- end }}
{{- if ne $kafka.sasl.mechanism "none" }}
- name: {{ .prefix }}_SASL_MECHANISM
  value: {{ $kafka.sasl.mechanism }}
- name: {{ .prefix }}_SASL_USERNAME
  {{- if $kafka.sasl.username }}
  value: {{ $kafka.sasl.username | quote }}
  {{- else }}
  valueFrom:
    secretKeyRef:
      name: {{ $kafka.sasl.existingSecret }}
      key: {{ $kafka.sasl.usernameKey }}
  {{- end }}
- name: {{ .prefix }}_SASL_PASSWORD
  valueFrom:
    secretKeyRef:
      name: {{ $kafka.sasl.existingSecret }}
      key: {{ $kafka.sasl.passwordKey }}
{{- end }}
{{- end }}

{{- define "vitrine.kafkaVolumes" -}}
{{- $tls := .Values.kafka.tls -}}
{{- range $name, $secret := dict "kafka-ca" $tls.caSecret "kafka-client" $tls.clientSecret }}
{{- if and $tls.enabled $secret }}
- name: {{ $name }}
  secret:
    secretName: {{ $secret }}
{{- end }}
{{- end }}
{{- end }}

{{- define "vitrine.kafkaMounts" -}}
{{- $tls := .Values.kafka.tls -}}
{{- range $name, $secret := dict "kafka-ca" $tls.caSecret "kafka-client" $tls.clientSecret }}
{{- if and $tls.enabled $secret }}
- name: {{ $name }}
  mountPath: /etc/vitrine/{{ $name }}
  readOnly: true
{{- end }}
{{- end }}
{{- end }}
