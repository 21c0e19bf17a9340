{{/* Names of resources begin with the release; 40 characters leave room for the longest suffix within the 63 of a label. */}}
{{- define "vitrine.name" -}}
{{- .Values.fullnameOverride | default .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{/* Takes root and component. The labels never change, because selectors of Deployments are immutable. */}}
{{- define "vitrine.selector" -}}
app.kubernetes.io/name: vitrine
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "vitrine.labels" -}}
{{ include "vitrine.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: vitrine
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end }}

{{/* Takes root and image. A digest overrides a tag. Without both the tag is the version of the chart. */}}
{{- define "vitrine.image" -}}
{{- $repository := list .root.Values.image.registry .image.repository | compact | join "/" -}}
{{- if .image.digest -}}
{{ $repository }}@{{ .image.digest }}
{{- else -}}
{{ $repository }}:{{ .image.tag | default .root.Values.image.tag | default .root.Chart.AppVersion }}
{{- end -}}
{{- end }}

{{- define "vitrine.pepperSecret" -}}
{{- .Values.pepper.existingSecret | default (printf "%s-pepper" (include "vitrine.name" .)) -}}
{{- end }}

{{- define "vitrine.plansConfigMap" -}}
{{ include "vitrine.name" . }}-plans
{{- end }}
