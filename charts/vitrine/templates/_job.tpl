{{/*
A Job that prepares a server. On install it is not a hook, because a post-install hook would wait for pods that wait for it. Jobs are
immutable, so the name has a checksum of the spec. Takes root, component, args, env, volumes, mounts, egress, and hook (true: before upgrades).
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
  {{- include "vitrine.preparation" (merge (dict "restartPolicy" "Never") .) | nindent 2 }}
{{- end }}

{{/* The template of a pod that prepares a server with the image of the migrations. Takes the arguments of a Job, and restartPolicy. */}}
{{- define "vitrine.preparation" -}}
metadata:
  labels:
    {{- include "vitrine.selector" . | nindent 4 }}
  {{- with .checksum }}
  annotations:
    checksum/files: {{ . | quote }}
  {{- end }}
spec:
  {{- include "vitrine.podCommon" . | nindent 2 }}
  automountServiceAccountToken: false
  restartPolicy: {{ .restartPolicy }}
  containers:
    - name: {{ .component }}
      image: {{ include "vitrine.image" (dict "root" .root "image" .root.Values.migrations.image) }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      args: {{ toJson .args }}
      env:
        {{- .env | nindent 8 }}
      resources:
        {{- include "vitrine.resources" (dict "resources" .root.Values.migrations.resources "ephemeralMi" 0) | nindent 8 }}
      securityContext:
        {{- include "vitrine.containerSecurityContext" . | nindent 8 }}
      volumeMounts:
        - { name: tmp, mountPath: /tmp }
        {{- with trim .mounts }}
        {{- . | nindent 8 }}
        {{- end }}
  volumes:
    {{- include "vitrine.tmpVolume" . | nindent 4 }}
    {{- with trim .volumes }}
    {{- . | nindent 4 }}
    {{- end }}
{{- end }}
