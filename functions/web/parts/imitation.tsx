/** An address that looks like one that the owner knows and is another: the mark of address poisoning. */
import { Facts, Notice } from './show.tsx'

export function Imitation({ known, imitating }: { known: string; imitating: string }) {
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

/** An address in groups of four, with those marked in which it differs from another. */
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
