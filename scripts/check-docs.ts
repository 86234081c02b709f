/** Fails if a document or comment names a file, heading, command, option or variable that does not exist. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { filesIn, root } from '../tests/support/tidy/files.ts'
import { findingsIn } from './check-docs/findings.ts'

const findings = findingsIn(filesIn(), readdirSync(join(root, 'node_modules/.bin')))
for (const { path, line, text } of findings) console.error(`${path}:${line} ${text}`)
if (findings.length > 0) process.exitCode = 1
