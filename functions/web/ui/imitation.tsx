/** Address poisoning: an address that looks like a known one and is another. */
import { Facts, Notice } from './show.tsx'

/** Warns about the address and shows where it differs from the known one. */
export function LookalikeWarning({ known, imitating }: { known: string; imitating: string }) {
  return (
    <Notice kind="danger" title="This address imitates one that you know">
      <p>
        It begins and ends like a recipient of yours, but it is another one. This is how money is
        diverted. Do not approve it unless you know why.
      </p>
      <Facts
        facts={[
          ['You know', <Compared value={known} other={imitating} />],
          ['This one', <Compared value={imitating} other={known} />],
        ]}
      />
    </Notice>
  )
}

/** Shows an address in groups of four and marks the groups that differ from another address. */
function Compared({ value, other }: { value: string; other: string }) {
  const groups = (address: string) => address.replace(/^0x/, '').match(/.{1,4}/g) ?? []
  const others = groups(other)
  return (
    <code class="address">
      <span>0x</span>
      {groups(value).map((group, at) => (
        <span>
          {group.toLowerCase() === others[at]?.toLowerCase() ? group : <mark>{group}</mark>}
        </span>
      ))}
    </code>
  )
}
