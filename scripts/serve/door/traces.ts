/**
 * A span for each answered request, sent by OTLP where OTEL_EXPORTER_OTLP_ENDPOINT says. The other variables of
 * OpenTelemetry count as well. A span has function, method, status and duration, and nothing that was said.
 */
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { parseTraceParent } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import type { AnsweredRequest } from './metrics.ts'

const serviceName = 'agent-operating-account'

/** Spans on their way; `stop` sends what is left. */
export type Traces = {
  /** `parent` is the traceparent header (W3C Trace Context) of the request, which the span goes on with. */
  note(answered: AnsweredRequest, parent: string | null): void
  stop(): Promise<void>
}

/** Starts to collect spans. */
export function openTraces(): Traces {
  const name = process.env['OTEL_SERVICE_NAME'] ?? serviceName
  const provider = new TracerProvider({
    resource: defaultResource().merge(resourceFromAttributes({ 'service.name': name })),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  })
  const tracer = provider.getTracer(serviceName)
  return {
    note({ function: folder, method, status, seconds }, parent) {
      const from = parent === null ? null : parseTraceParent(parent)
      const context = from
        ? trace.setSpanContext(ROOT_CONTEXT, { ...from, isRemote: true })
        : ROOT_CONTEXT
      const end = Date.now()
      const attributes = {
        'http.request.method': method,
        'http.route': `/${folder}`,
        'http.response.status_code': status,
      }
      const startTime = end - seconds * 1000
      const about = { kind: SpanKind.SERVER, startTime, attributes }
      const span = tracer.startSpan(`${method} /${folder}`, about, context)
      // Semantic conventions: only what the server itself did wrong is an error of a server span.
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
      span.end(end)
    },
    stop: () => provider.shutdown(),
  }
}
