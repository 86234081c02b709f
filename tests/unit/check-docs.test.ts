/** The check of documents finds each kind of dangling pointer, and only those. */
import { expect, test } from 'vitest'
import { findingsIn } from '../../scripts/check-docs/findings.ts'

function textsFoundIn(path: string, text: string): string[] {
  const files = {
    'package.json': '{"scripts": {"serve": "node scripts/serve.ts"}}',
    'scripts/serve.ts': "const options = { port: { type: 'string' } }; env.MAIL_URL",
    'shared/README.md': '# The core\n\n## A request\n',
    'shared/payments/enter/attempt.ts': '',
    [path]: text,
  }
  const tree = Object.entries(files).map(([name, content]) => ({ path: name, text: content }))
  return findingsIn(tree, ['vitest']).map((found) => `${found.path}:${found.line} ${found.text}`)
}

test.each([
  ['a link to a file', '[x](shared/gone.md)', 'shared/gone.md'],
  ['a link to a heading', '[x](shared/README.md#gone)', 'shared/README.md#gone'],
  ['a quoted path', '`shared/payments/gone.ts`', 'shared/payments/gone.ts'],
  ['a quoted folder', '`deposits/`', 'deposits/'],
  ['a quoted pattern', '`shared/*-data.ts`', 'shared/*-data.ts'],
  ['a quoted variable', '`MAIL_GONE`', 'MAIL_GONE'],
  ['a quoted command', '`npm run gone`', 'npm run gone'],
  ['an option', '`npm run serve -- --gone 1`', 'scripts/serve.ts has no --gone'],
])('%s that does not exist is found', (_, text, found) => {
  expect(textsFoundIn('README.md', `# Top\n${text}\n`)).toEqual([`README.md:2 ${found}`])
})

test.each([
  ['npx gone run', 'npx gone'],
  ['node scripts/gone.ts', 'scripts/gone.ts'],
  ['curl http://127.0.0.1:8787/gone', '/gone'],
  ["echo 'open", 'bash'],
])('the printed command %s is found', (command, found) => {
  const [first = ''] = textsFoundIn('README.md', `\`\`\`sh\n${command}\n\`\`\`\n`)

  expect(first).toMatch(/^README\.md:2 /)
  expect(first).toContain(found)
})

test('a comment that names a file that does not exist is found', () => {
  const gone = 'enter/gone.ts'
  const text = `code() // as payments/enter/attempt.ts\n/** Read by ${gone}. */\n`

  expect(textsFoundIn('shared/code.ts', text)).toEqual([`shared/code.ts:2 ${gone}`])
})

test('whatever exists, and paths of others, are not found', () => {
  const prose =
    '[x](shared/README.md#a-request) `shared/payments/*/attempt.ts` `MAIL_URL` `text/html`'
  const shell =
    '```sh\nnpm ci && npm run serve -- --port 1 # gone.ts\nnpx vitest shared/payments\n```'

  expect(textsFoundIn('README.md', `${prose}\n${shell}\n`)).toEqual([])
})
