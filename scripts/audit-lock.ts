/** Fails if package-lock.json locks a version that a noted advisory names. */
import { readFileSync } from 'node:fs'
import { advisoriesSchema, findingsIn, lockSchema } from './audit-lock/audit.ts'

function read(path: string): unknown {
  return JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))
}

const advisories = advisoriesSchema.parse(read('audit-lock/advisories.json'))
const findings = findingsIn(lockSchema.parse(read('../package-lock.json')), advisories)
for (const finding of findings) console.error(finding)
console.log(`${advisories.length} advisories, ${findings.length} locked versions that one names`)
if (findings.length > 0) process.exitCode = 1
