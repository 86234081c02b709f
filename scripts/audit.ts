/**
 * Asks the registry which locked packages have a known weakness (`npm audit`), and fails on each that
 * audit-allowed.json does not allow, with a reason and until a date.
 */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { runFramed } from './program/frame.ts'

const help = `node scripts/audit.ts [--if-reachable]

Prints the advisories that name a locked package, and fails if there is one that scripts/audit-allowed.json
does not list. Without an answer of the registry it fails too, unless --if-reachable is given.`

const allowed = z.array(
  z.strictObject({ id: z.string().startsWith('GHSA-'), reason: z.string(), until: z.iso.date() }),
)
const advisory = z.object({ url: z.url(), name: z.string(), title: z.string(), range: z.string() })
/** The report of npm. A text in `via` names a package that depends on a weak one. */
const report = z.object({
  auditReportVersion: z.literal(2),
  vulnerabilities: z.record(
    z.string(),
    z.object({ via: z.array(z.union([z.string(), advisory])) }),
  ),
})

/** Returns a line for each advisory of npm's report that is not allowed on this day. */
export function findingsIn(output: unknown, allowances: unknown, today: string): string[] {
  const ids = allowed.parse(allowances).flatMap(({ id, until }) => (today <= until ? [id] : []))
  return Object.values(report.parse(output).vulnerabilities)
    .flatMap(({ via }) => via.flatMap((cause) => (typeof cause === 'string' ? [] : [cause])))
    .filter(({ url }) => !ids.some((id) => url.endsWith(`/${id}`)))
    .map(({ name, range, title, url }) => `${name} ${range}: ${title} (${url})`)
}

/** Returns npm's report; undefined if the registry gives none. */
async function askRegistry(): Promise<unknown> {
  const cwd = fileURLToPath(new URL('..', import.meta.url))
  const output = await new Promise<string>((resolve) => {
    // npm ends with 1 both for a finding and for an error, so only its output tells them apart.
    const audit = ['audit', '--json', '--package-lock-only']
    execFile('npm', audit, { cwd, maxBuffer: 2 ** 26 }, (_, stdout) => resolve(stdout))
  })
  const answer: unknown = JSON.parse(output || '{}')
  return report.safeParse(answer).success ? answer : undefined
}

if (import.meta.main) {
  await runFramed(help, { 'if-reachable': { type: 'boolean' } }, async (values) => {
    const answer = await askRegistry()
    if (answer === undefined) {
      console.error('The registry cannot be asked for advisories: nothing was checked.')
      return values['if-reachable'] ? 0 : 1
    }
    const allowances = readFileSync(new URL('audit-allowed.json', import.meta.url), 'utf8')
    const today = new Date().toISOString().slice(0, 10)
    const findings = findingsIn(answer, JSON.parse(allowances), today)
    for (const finding of findings) console.error(finding)
    console.log(`${findings.length} advisories name what is locked and are not allowed`)
    return findings.length > 0 ? 1 : 0
  })
}
