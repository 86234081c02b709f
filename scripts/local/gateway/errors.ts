/**
 * PostgREST's errors: the HTTP status of each SQLSTATE, and the body that carries it. The table follows
 * PostgREST's manual, "Errors", and its module PostgREST.Error.
 */
import postgres from 'postgres'
import * as z from 'zod'

/** An HTTP answer of the gateway. */
export type Answer = { status: number; headers: Record<string, string>; body: string }

/** An answer that refuses the call. */
export type Refusal = Answer & { refused: true }

/** Returns an error answer in PostgREST's shape. */
export function refusal(
  status: number,
  code: string,
  message: string,
  details: string | null = null,
  hint: string | null = null,
  headers: Record<string, string> = {},
): Refusal {
  return {
    refused: true,
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body: JSON.stringify({ code, details, hint, message }),
  }
}

const exactStatus: Record<string, number> = {
  '23503': 409,
  '23505': 409,
  '25006': 405,
  '42883': 404,
  '42P01': 404,
  '42P17': 500,
  '53400': 500,
  '57P01': 503,
  // Starting up or shutting down: PostgREST meets these while it connects and calls them PGRST000, 503.
  '57P02': 503,
  '57P03': 503,
  P0001: 400,
}

const classStatus: Record<string, number> = {
  '08': 503,
  '09': 500,
  '0L': 403,
  '0P': 403,
  '25': 500,
  '28': 403,
  '2D': 500,
  '38': 500,
  '39': 500,
  '3B': 500,
  '40': 500,
  '53': 503,
  '54': 500,
  '55': 500,
  '57': 500,
  '58': 500,
  F0: 500,
  HV: 500,
  P0: 500,
  XX: 500,
}

/** Returns the HTTP status of a SQLSTATE. `anonymous` callers get 401 where others get 403. */
export function httpStatusOf(code: string, message: string, anonymous: boolean): number {
  if (code.startsWith('PT')) return /^PT[1-9]\d\d$/.test(code) ? Number(code.slice(2)) : 500
  if (code === '42501') return anonymous ? 401 : 403
  if (code === '21000') return message.endsWith('requires a WHERE clause') ? 400 : 500
  if (code === '22023') return /^role .* does not exist$/.test(message) ? 401 : 400
  return exactStatus[code] ?? classStatus[code.slice(0, 2)] ?? 400
}

/** Returns the answer to an exception of the database driver. */
export function refusalOf(error: unknown, anonymous: boolean): Refusal {
  if (!(error instanceof postgres.PostgresError)) return connectionRefusal(error)
  const { code, message, detail = null, hint = null } = error
  if (code === 'PGRST') return raisedAnswer(message, detail) ?? refusal(500, 'PGRST121', message)
  return refusal(httpStatusOf(code, message, anonymous), code, message, detail, hint)
}

function connectionRefusal(error: unknown): Refusal {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (!/^(CONNECT|E[A-Z]+$)/.test(code)) throw error
  return refusal(503, 'PGRST000', 'Database connection error. Retrying the connection.', code)
}

const raisedMessage = z.object({
  code: z.string(),
  message: z.string(),
  details: z.string().nullish(),
  hint: z.string().nullish(),
})
const raisedDetail = z.object({
  status: z.int().min(100).max(599),
  headers: z.record(z.string(), z.string()).default({}),
})

// "RAISE ... USING errcode = 'PGRST'" carries the whole answer as JSON (PostgREST manual, "RAISE
// errors with HTTP status codes").
function raisedAnswer(message: string, detail: string | null): Refusal | undefined {
  const what = raisedMessage.safeParse(parseJson(message)).data
  const how = raisedDetail.safeParse(parseJson(detail ?? '')).data
  if (!what || !how) return undefined
  const { code, details, hint } = what
  return refusal(how.status, code, what.message, details ?? null, hint ?? null, how.headers)
}

/** Returns the parsed JSON, or undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
