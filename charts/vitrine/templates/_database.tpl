{{/* The reference to a service's DSN. Takes root, name (kebab-case) and database (its block of values). */}}
{{- define "vitrine.dsn" -}}
{{- $shared := .root.Values.database -}}
valueFrom:
  secretKeyRef:
    {{- if and .root.Values.dev.enabled (not (.database.existingSecret | default $shared.existingSecret)) }}
    name: {{ include "vitrine.name" .root }}-dev-postgres
    key: dsn-{{ .name }}
    {{- else }}
    name: {{ .database.existingSecret | default $shared.existingSecret }}
    key: {{ .database.key | default $shared.key }}
    {{- end }}
{{- end }}

{{/* The certificate authority for sslrootcert in DSNs. */}}
{{- define "vitrine.databaseVolume" -}}
{{- with .Values.database.caSecret }}
- name: database-ca
  secret:
    secretName: {{ . }}
{{- end }}
{{- end }}

{{- define "vitrine.databaseMount" -}}
{{- if .Values.database.caSecret }}
- name: database-ca
  mountPath: /etc/vitrine/database-ca
  readOnly: true
{{- end }}
{{- end }}
