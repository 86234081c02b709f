/** All documents describe every operation alike, and match the contracts. */
import { expect, test } from 'vitest'
import { contracts } from '../../../functions/contracts.ts'
import { documents } from '../../../functions/discovery/documents.ts'
import { documents as metadataDocuments } from '../../../functions/oauth/documents.ts'
import { contractDigest } from '../../../shared/contract/digest.ts'
import { groupOf, groups } from '../../../shared/contract/documents/about.ts'
import { gapStates } from '../../../shared/contract/gaps.ts'
import { commonErrors } from '../../../shared/contract/operation.ts'
import { toolsOf } from '../../../shared/mcp/tools.ts'
import {
  readCard,
  readLlms,
  readManifest,
  readOpenApi,
  readSkill,
} from '../../support/documents/readers.ts'
import { problemsOfIndex, problemsOfLlms, problemsOfSkill } from '../../support/documents/rules.ts'

/** Gap states in which everything that can fail does fail, in some place. */
const gaps = gapStates({
  watched: true,
  chains: ['eip155:8453', 'eip155:84532'],
  failing: [
    { part: 'endpoints:eip155:8453', reason: 'unreachable' },
    { part: 'mail_out', reason: 'refused' },
  ],
})
const digest = 'd1'.repeat(32)
const service = {
  contracts,
  baseUrl: 'https://api.agents.test',
  webUrl: 'https://agents.test/web',
  environment: 'staging' as const,
  gaps,
  digest,
}
const texts = new Map<string, string>()
for (const document of documents) texts.set(document.path, await document.textOf(service))

function textAt(path: string): string {
  const text = texts.get(path)
  if (text === undefined) throw new Error(`no document at ${path}`)
  return text
}

const expected = contracts.map((contract) => ({
  id: contract.id,
  call: `${contract.method} /${contract.folder}`,
  scope: contract.access,
  gap: contract.gap ?? null,
  status: gaps.find(({ gap_id }) => gap_id === contract.gap)?.status ?? null,
  errors: [...contract.errors, ...commonErrors(contract)].toSorted(),
}))

test('the description of the calls names the environment that serves it', () => {
  expect(textAt('/openapi.json')).toContain(
    '"servers":[{"url":"https://api.agents.test","description":"The staging service."',
  )
})

const readings = [
  ['/skill.md', readSkill],
  ['/openapi.json', readOpenApi],
  ['/tools.json', readManifest],
  ['/.well-known/agent-card.json', readCard],
  ['/llms.txt', readLlms],
] as const

test.each(readings)(
  '%s names every operation with its call, scope, gap, state and refusals',
  (path, read) => {
    const { operations } = read(textAt(path))

    const byId = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1)
    expect(operations.toSorted(byId)).toEqual(expected.toSorted(byId))
  },
)

test.each(readings)(
  '%s carries the digest of the contract and the state of every gap',
  (path, read) => {
    const { digest: told, gaps: states } = read(textAt(path))

    expect(told).toBe(digest)
    expect(states).toMatchObject(gaps.map(({ gap_id, status }) => ({ gap_id, status })))
  },
)

test('the MCP tools are the operations, with the same scopes, gaps, refusals and digest', () => {
  const tools = [...toolsOf(contracts)].map(([id, { config }]) => {
    const { errors = '', ...told } = config._meta
    return { id, ...told, errors: new Set(errors.split(' ')) }
  })

  const wanted = expected.map(({ id, scope, gap, errors }) => ({
    id,
    scope,
    contract_digest: contractDigest,
    errors: new Set(errors),
    ...(gap === null ? {} : { gap_id: gap }),
  }))
  expect(tools).toEqual(wanted)
})

test('no document has a placeholder left but those of the examples', () => {
  for (const [path, text] of texts) {
    if (path !== '/skill.md') expect(text, path).not.toMatch(/\{\{|\{base_url\}|undefined/)
  }
  const prose = textAt('/skill.md').replace(/```http[\s\S]*?```/g, '')
  const named = [...prose.matchAll(/\{\{([^}]*)\}\}/g)].map(([, name]) => name)
  expect(new Set(named)).toEqual(new Set(['payee.address', 'api_key', 'new_id']))
})

test('every operation is in one group, and no group is empty', () => {
  const used = new Set(contracts.map((contract) => groupOf(contract).name))
  expect([...used].toSorted()).toEqual(groups.map(({ name }) => name).toSorted())
})

test('each document keeps the rules of its form', () => {
  const skill = textAt('/skill.md')

  expect(problemsOfSkill(skill)).toEqual([])
  expect(problemsOfLlms(textAt('/llms.txt'))).toEqual([])
  expect(problemsOfIndex(textAt('/.well-known/agent-skills/index.json'), skill)).toEqual([])
})

const breaks: [string, string | RegExp, string, string][] = [
  ['/skill.md', /^---\n/, '', 'it has no front matter'],
  ['/skill.md', 'name: agent-', 'name: Agent_', 'the name has a wrong form'],
  ['/skill.md', 'license:', 'licence:', 'a field is not one of the form'],
  ['/skill.md', /$/, '\n'.repeat(300), 'it has over 500 lines'],
  ['/skill.md', /$/, 'word '.repeat(1000), 'it may have over 5,000 tokens'],
  ['/llms.txt', /^# /, '', 'it does not begin with a title'],
  ['/llms.txt', /^> .*$/m, '', 'no quoted summary follows the title'],
  ['/llms.txt', '\n## Wallet', '\n### Wallet', 'a section is not of the second level'],
  ['/llms.txt', '- [get_identity]', '- get_identity ', 'a section holds something else than links'],
  ['/llms.txt', '\n## Wallet', '\n## Vault', 'two sections have one title'],
]

test.each(breaks)('the rules find what is wrong: %s with %s as %s', (path, from, to, problem) => {
  const broken = textAt(path).replace(from, to)

  expect(path === '/skill.md' ? problemsOfSkill(broken) : problemsOfLlms(broken)).toContain(problem)
})

test('an index of other bytes is found', () => {
  const index = textAt('/.well-known/agent-skills/index.json')

  expect(problemsOfIndex(index, `${textAt('/skill.md')} `)).toEqual([
    'the digest is of other bytes',
  ])
})

test('where the root of the host is somebody else’s, documents lead below our own path', async () => {
  const elsewhere = { ...service, baseUrl: 'https://shared.test/functions/v1' }
  const addresses = await Promise.all(
    documents.map(async (document) =>
      (await document.textOf(elsewhere)).match(/https:[^\s"`)]+\/\.well-known\/oauth-[^\s"`)]+/g),
    ),
  )

  const own = 'https://shared.test/functions/v1'
  const found = [...new Set(addresses.flatMap((ones) => ones ?? []))].toSorted()
  expect(found).toEqual([
    `${own}/oauth/.well-known/oauth-authorization-server`,
    `${own}/oauth/.well-known/oauth-protected-resource`,
  ])
  const served = Object.keys(metadataDocuments).map((path) => `${own}${path}`)
  expect(served).toEqual(expect.arrayContaining(found))
})
