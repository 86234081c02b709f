/** Reads the input of a request, and says in plain words what is wrong with it. */
import type * as z from 'zod'

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
  const told = problems.find(({ message }) => message.endsWith('?')) ?? problems[0]
  return { problems, message: told ? sentenceOf(told) : '' }
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
