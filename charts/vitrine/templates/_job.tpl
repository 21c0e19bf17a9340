{{/*
A Job that prepares a server. On install it is an ordinary one: a post-install hook would wait for pods that wait for it. Jobs are immutable,
so its name has a checksum of all that is in it. Takes root, component, args, env, volumes, mounts, egress, and hook (true: before upgrades).
*/}}
{{- define "vitrine.job" -}}
{{- $spec := include "vitrine.jobSpec" . }}
---
apiVersion: batch/v1
kind: Job
metadata:
  {{- if .hook }}
  name: {{ include "vitrine.name" .root }}-{{ .component }}-upgrade
  {{- else }}
  name: {{ include "vitrine.name" .root }}-{{ .component }}-{{ printf "%s %s" .root.Chart.AppVersion $spec | sha256sum | trunc 10 }}
  {{- end }}
  labels:
    {{- include "vitrine.labels" . | nindent 4 }}
  {{- if .hook }}
  annotations:
    helm.sh/hook: pre-upgrade
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
  {{- end }}
spec:
  {{- $spec | nindent 2 }}
{{- end }}

{{- define "vitrine.jobSpec" -}}
backoffLimit: 5
activeDeadlineSeconds: 900
template:
  metadata:
    labels:
      {{- include "vitrine.selector" . | nindent 6 }}
    {{- with .checksum }}
    annotations:
      checksum/files: {{ . | quote }}
    {{- end }}
  spec:
    {{- include "vitrine.podCommon" . | nindent 4 }}
    automountServiceAccountToken: false
    restartPolicy: Never
    containers:
      - name: {{ .component }}
        image: {{ include "vitrine.image" (dict "root" .root "image" .root.Values.migrations.image) }}
        imagePullPolicy: {{ .root.Values.image.pullPolicy }}
        args: {{ toJson .args }}
        env:
          {{- .env | nindent 10 }}
        resources:
          {{- include "vitrine.resources" (dict "resources" .root.Values.migrations.resources "ephemeralMi" 0) | nindent 10 }}
        securityContext:
          {{- include "vitrine.containerSecurityContext" . | nindent 10 }}
        volumeMounts:
          - { name: tmp, mountPath: /tmp }
          {{- with trim .mounts }}
          {{- . | nindent 10 }}
          {{- end }}
    volumes:
      {{- include "vitrine.tmpVolume" . | nindent 6 }}
      {{- with trim .volumes }}
      {{- . | nindent 6 }}
      {{- end }}
{{- end }}
