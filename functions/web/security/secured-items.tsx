/** Lists of what securing the account ends, and the forms that make it again. */
import type { Child } from 'hono/jsx'
import type { EndedItem } from '../../../shared/auth/secure-account.ts'
import { lifeDaysDefault } from '../keys/keys-data.ts'
import { Button, Form, LinkButton } from '../ui/form.tsx'
import { Badge, Empty, Section, Table } from '../ui/show.tsx'
import type { PageContext } from '../visit.ts'

const kinds: Record<EndedItem['kind'], string> = {
  api_key: 'API key',
  oauth: 'Connected app',
  mandate: 'Mandate',
  recipient: 'Known recipient',
  limit: 'Raised limit',
  passkey: 'Passkey',
  destination: 'Destination of a secret',
  push_device: 'Browser that receives notifications',
}

const columns = [
  { label: 'What', cell: ({ kind }: EndedItem) => kinds[kind] },
  { label: 'Name', cell: ({ name }: EndedItem) => name },
]

/** Lists what would end now. */
export function EndingItems({ items }: { items: readonly EndedItem[] }) {
  if (items.length === 0) return null
  return <Table caption="What ends" columns={columns} rows={[...items]} />
}

type EndedItemsProps = {
  c: PageContext
  items: readonly EndedItem[]
  /** Items of the account now; what stands there again is done. */
  standing: readonly EndedItem[]
}

/** Lists what ended, each with the form or the page that makes it again. */
export function EndedItems({ c, items, standing }: EndedItemsProps) {
  const isBack = ({ kind, name }: EndedItem) =>
    standing.some((other) => other.kind === kind && other.name === name)
  const again = {
    label: 'Make again',
    cell: (item: EndedItem) =>
      isBack(item) ? <Badge kind="good">Done</Badge> : <Again c={c} item={item} />,
  }
  return (
    <Section title="What ended">
      {items.length === 0 ? (
        <Empty>There were no keys, apps, mandates or recipients.</Empty>
      ) : (
        <Table caption="What ended" columns={[...columns, again]} rows={[...items]} />
      )}
    </Section>
  )
}

function Again({ c, item }: { c: PageContext; item: EndedItem }) {
  const { kind, id, name } = item
  switch (kind) {
    case 'api_key':
      return (
        <Press c={c} action="/keys" fields={keyFields(item)}>
          New key<span class="unseen"> for {name}</span>
        </Press>
      )
    case 'recipient':
      return (
        <Press c={c} action={`/recipients/add/${id}`} fields={{ address: id }}>
          Add<span class="unseen"> {name}</span>
        </Press>
      )
    case 'limit':
      return (
        <Press c={c} action="/limits" fields={{ limit: id, [`usd_${id}`]: item.usd ?? '' }}>
          Raise to {item.usd} USD
        </Press>
      )
    case 'passkey':
      return <LinkButton to="/security/passkeys">Add a passkey</LinkButton>
    case 'push_device':
      return <LinkButton to="/notifications">Notifications</LinkButton>
    case 'destination':
      return <LinkButton to={`/vault/${id}`}>See the login</LinkButton>
    case 'oauth':
      return 'Connect it again from the app.'
    case 'mandate':
      return 'Your agent asks for it again.'
  }
}

function keyFields({ name, scope, usd_per_payment, usd_per_day }: EndedItem) {
  const caps = { each: usd_per_payment ?? '', day: usd_per_day ?? '' }
  return { label: name, scope: scope ?? 'read', days: lifeDaysDefault, ...caps }
}

type PressProps = {
  c: PageContext
  action: string
  fields: Readonly<Record<string, string>>
  children: Child
}

function Press({ c, action, fields, children }: PressProps) {
  return (
    <Form c={c} action={action}>
      {Object.entries(fields).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <Button kind="plain">{children}</Button>
    </Form>
  )
}
