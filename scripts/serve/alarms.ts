/**
 * Tells the operator of alarms, by a POST or in some other way. An alarm is a line of the log that names one; the same alarm about
 * the same chain, account or relayer is told once an hour, since most repeat until somebody acts.
 */
import { performance } from 'node:perf_hooks'
import * as z from 'zod'

const againMilliseconds = 3_600_000
const timeoutMilliseconds = 10_000
/** Alarms that are remembered; a flood of others is told, too. */
const rememberedMax = 10_000

const lineSchema = z.looseObject({
  alarm: z.string(),
  chain: z.string().optional(),
  account: z.string().optional(),
  address: z.string().optional(),
})

/** Passes each line that this process writes to its log on to `hear`, too. */
export function hearLog(hear: (line: string) => void): void {
  const write = console.error
  console.error = (...said: unknown[]) => {
    write(...said)
    if (typeof said[0] === 'string') hear(said[0])
  }
}

/** An alarm with its sentence, and the fields of its line. */
export type Alarm = z.output<typeof lineSchema> & { text: string }
/** Tells the operator of an alarm; rejects if it was not taken. */
export type Tell = (alarm: Alarm) => Promise<void>

/** Returns a function that takes lines of the log and tells of those that are alarms. */
export function openAlarms(tell: Tell, say: (line: string) => void): (line: string) => void {
  const told = new Map<string, number>()
  return (line) => {
    const alarm = alarmIn(line)
    if (!alarm) return
    const about = alarm.account ?? alarm.address ?? alarm.chain ?? 'the service'
    const key = `${alarm.alarm} ${about}`
    const now = performance.now()
    if (now - (told.get(key) ?? -againMilliseconds) < againMilliseconds) return
    if (told.size >= rememberedMax) told.clear()
    told.set(key, now)
    tell({ text: `Alarm ${alarm.alarm}: ${about}`, ...alarm }).catch((error: unknown) => {
      // It is told again at the next line.
      told.delete(key)
      say(`an alarm could not be told: ${String(error)}`)
    })
  }
}

function alarmIn(line: string): z.output<typeof lineSchema> | undefined {
  if (!line.startsWith('{') || !line.includes('"alarm"')) return undefined
  try {
    return lineSchema.safeParse(JSON.parse(line)).data
  } catch {
    return undefined
  }
}

/** Returns the way to an address that takes alarms as JSON. */
export function postTo(url: string): Tell {
  return async (alarm) => {
    const signal = AbortSignal.timeout(timeoutMilliseconds)
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify(alarm)
    const answer = await fetch(url, { method: 'POST', headers, body, signal })
    if (!answer.ok) throw new Error(`status ${answer.status}`)
  }
}
