/** Findings of the doctor: each says what was looked at, and what to do if it is not well. */

/** One finding. `unknown` stands for what the platform does not tell this token. */
export type Finding = { state: 'well' | 'wrong' | 'unknown'; text: string }

/** Returns a finding that nothing has to be done about. */
export function well(text: string): Finding {
  return { state: 'well', text }
}

/** Returns a finding that stops a deployment; `text` says what to do. */
export function wrong(text: string): Finding {
  return { state: 'wrong', text }
}

/** Returns a finding that its reader has to look at. */
export function unknown(text: string): Finding {
  return { state: 'unknown', text }
}

const warnDays = 60

/** Returns a finding if something that is valid now ends soon. */
export function warnOfEnd(what: string, end: Date, now: Date): Finding[] {
  const days = Math.floor((end.getTime() - now.getTime()) / 86_400_000)
  if (days >= warnDays) return []
  return [unknown(`${what} ends on ${end.toISOString().slice(0, 10)}: renew before`)]
}

const marks = { well: 'ok   ', wrong: 'WRONG', unknown: 'look ' } as const

/** Returns the line of a finding. */
export function lineOf({ state, text }: Finding): string {
  return `${marks[state]} ${text}`
}
