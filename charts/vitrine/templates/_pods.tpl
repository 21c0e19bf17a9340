{{/* Security of every pod; the admission level "restricted" accepts it. Takes the user id. */}}
{{- define "vitrine.podSecurityContext" -}}
runAsNonRoot: true
runAsUser: {{ . }}
runAsGroup: {{ . }}
fsGroup: {{ . }}
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "vitrine.containerSecurityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* What all pods have in common. Takes root. Service links would set VITRINE_* and KAFKA_* variables of Services, and the programs reject
     unknown variables with their prefix. */}}
{{- define "vitrine.podCommon" -}}
enableServiceLinks: false
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .root.Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
securityContext:
  {{- include "vitrine.podSecurityContext" .root.Values.podUserId | nindent 2 }}
{{- end }}

{{/* Node writes a cache of stripped sources to /tmp. */}}
{{- define "vitrine.tmpVolume" -}}
- name: tmp
  emptyDir:
    sizeLimit: 64Mi
{{- end }}
