/** Reads the input of a request, and says in plain words what is wrong with it. */
import type * as z from 'zod'
import { fail, Rejection } from '../contract/errors.ts'
import type { World } from '../world.ts'

type Issue = z.core.$ZodIssue

const problemsMax = 8
/** Maximum characters of each field name and of each sentence about a problem. */
const charactersMax = 500

/** Parses input. A whole number in a field or list of text is read as its digits, which are exact. */
export function parseInput<Schema extends z.ZodType>(schema: Schema, value: unknown) {
  const parsed = schema.safeParse(value)
  if (parsed.success || !hasFields(value)) return parsed
  const names = parsed.error.issues.flatMap(({ code, path: [name, ...inner] }) =>
    code === 'invalid_type' && name !== undefined && inner.length < 2 ? [String(name)] : [],
  )
  const read = [...new Set(names)].map((name) => [name, withDigits(value[name])])
  return read.length === 0 ? parsed : schema.safeParse({ ...value, ...Object.fromEntries(read) })
}

const digitsOf = (value: unknown) => (Number.isSafeInteger(value) ? String(value) : value)

const withDigits = (value: unknown) =>
  Array.isArray(value) ? value.map(digitsOf) : digitsOf(value)

function hasFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/**
 * Returns the first problems, one for each field and phrased such as "is missing", and one sentence about what
 * to change first.
 */
export function inputProblems(issues: readonly Issue[]) {
  const missing = issues.filter((issue) => issue.path.length === 1 && isMissing(issue))
  const meant = missing.length === 1 ? ` Did you mean ${nameOf(missing[0]?.path)}?` : ''
  const problems = gravestOfFields(issues).map((issue) => ({
    field: nameOf(issue.path),
    message: wordsFor(issue, meant).slice(0, charactersMax),
  }))
  const problem = problems.find(({ message }) => message.endsWith('?')) ?? problems[0]
  return { problems, message: problem ? sentenceOf(problem) : '' }
}

function sentenceOf({ field, message }: { field: string; message: string }): string {
  if (message.startsWith('is ')) return `${field || 'The request'} ${message}`
  return field === '' ? message : `${field}: ${message}`
}

/** Keeps one issue of each field: its type or form says more than its size. */
function gravestOfFields(issues: readonly Issue[]): Issue[] {
  const kept = new Map<string, Issue>()
  for (const issue of issues) {
    const field = issue.path.join('.')
    if (kept.get(field)?.code.startsWith('too_') ?? true) kept.set(field, issue)
  }
  return [...kept.values()].slice(0, problemsMax)
}

/**
 * Names that may appear in our sentences. Other names may come from whoever wrote what the caller passes
 * on, and would speak in our voice. They may also be as long as a body.
 */
const plainName = /^[A-Za-z0-9_.-]{1,64}$/

function nameOf(path: readonly PropertyKey[] = []): string {
  return path.map((part) => (plainName.test(String(part)) ? String(part) : '?')).join('.')
}

function isMissing({ code, message }: Issue): boolean {
  return code === 'invalid_type' && message.endsWith('received undefined')
}

function wordsFor(issue: Issue, meant: string): string {
  const { code } = issue
  if (code === 'unrecognized_keys') {
    const names = issue.keys.map((key) => nameOf([key]))
    return `There is no field ${names.join(', ')}.${names.length === 1 ? meant : ''}`
  }
  if (code === 'invalid_type') {
    return isMissing(issue)
      ? 'is missing'
      : `is not ${typeWords[issue.expected] ?? `a ${issue.expected}`}`
  }
  if (code === 'too_big') return `is over the maximum of ${issue.maximum}`
  return code === 'too_small' ? `is under the minimum of ${issue.minimum}` : issue.message
}

const typeWords: Readonly<Record<string, string>> = {
  string: 'text in quotes',
  int: 'a whole number',
  array: 'a list',
}

/** Reason to refuse a body: longer than the limit, or cut off or framed wrongly on the way. */
export type BodyProblem = 'too_long' | 'broken'

/** Reads all bytes of a stream, or returns why that failed. */
export async function readAtMost(
  stream: ReadableStream<Uint8Array> | null,
  bytesMax: number,
): Promise<Uint8Array<ArrayBuffer> | BodyProblem> {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let length = 0
  const reader = stream?.getReader()
  while (reader) {
    const next = await reader.read().catch(() => 'broken' as const)
    if (next === 'broken') return next
    if (next.done) break
    length += next.value.length
    if (length > bytesMax) {
      await reader.cancel()
      return 'too_long'
    }
    chunks.push(new Uint8Array(next.value))
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer())
}

/** Returns the request with its body read; throws a Rejection if the body is too long or incomplete. */
export async function wholeRequest(request: Request, bytesMax: number): Promise<Request> {
  if (request.body === null) return request
  const body = await readAtMost(request.body, bytesMax)
  if (body === 'too_long') {
    throw new Rejection(fail('payload_too_large', { details: { bytes_max: bytesMax } }))
  }
  if (body === 'broken') {
    throw new Rejection(fail('invalid_request', { message: 'The body did not come whole.' }))
  }
  const { url, method, headers } = request
  return new Request(url, { method, headers, body })
}

const everySeconds = 1

/** Reads once a second until `isDone`, for at most this many seconds; returns what was read last. */
export async function readUntil<Value>(
  { pause, now }: Pick<World, 'pause' | 'now'>,
  seconds: number,
  read: () => Promise<Value>,
  isDone: (value: Value) => boolean,
): Promise<Value> {
  const end = now().getTime() + seconds * 1_000
  let value = await read()
  // A look can take longer than a second.
  for (
    let left = seconds;
    left > 0 && now().getTime() < end && !isDone(value);
    left -= everySeconds
  ) {
    await pause(everySeconds * 1_000)
    value = await read()
  }
  return value
}

/**
 * Returns the fields of a form. Browsers write each with a `=`. Others are left out, because the time in
 * which Node reads them grows with the square of their number.
 */
export function formFieldsIn(text: string): URLSearchParams {
  const fields = text.split('&').filter((field) => field.includes('='))
  return new URLSearchParams(fields.join('&'))
}
