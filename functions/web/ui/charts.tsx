/**
 * Charts as SVG. Shapes stretch to the available width, so all text is HTML beside them, and a table
 * repeats every figure.
 */
import type { Child } from 'hono/jsx'
import { Table } from './show.tsx'

/** Value of one day: `text` is the value in words. */
export type Point = { label: string; value: bigint; text: string }

type ChartProps = {
  id: string
  title: string
  /** Sentence that describes the shape; screen readers read it instead of the shape. */
  says: string
  unit: string
  points: readonly Point[]
}

/** Draws one bar a day. The cap is a line, unless it is 0 or over eight times the highest bar. */
export function BarChart({ cap, ...chart }: ChartProps & { cap: { value: bigint; text: string } }) {
  const most = highest(chart.points)
  const isCapShown = cap.value > 0n && cap.value <= most * 8n
  const limit = `limit for everything together, ${cap.text} ${chart.unit}`
  const absence = cap.value === 0n ? 'lets nothing be paid' : 'is far above'
  const top = isCapShown && cap.value > most ? cap.value : most
  const capAt = 100 - share(cap.value, top)
  return (
    <Chart
      {...chart}
      legend={isCapShown ? `The dashed line is the ${limit}.` : `The ${limit}, ${absence}.`}
      topText={top === cap.value ? cap.text : valueText(chart.points, top)}
    >
      {chart.points.map(({ label, value, text }, at) => (
        <rect
          class="bar"
          x={at + 0.14}
          y={100 - share(value, top)}
          width={0.72}
          height={share(value, top)}
        >
          <title>{`${label}: ${text} ${chart.unit}`}</title>
        </rect>
      ))}
      {isCapShown && <line class="cap" x1="0" x2={chart.points.length} y1={capAt} y2={capAt} />}
    </Chart>
  )
}

/** Draws a line with steps: a value holds until it changes. */
export function StepChart(chart: ChartProps) {
  const top = highest(chart.points)
  const heights = chart.points.map(({ value }) => 100 - share(value, top))
  const steps = heights.map(
    (y, at) => `${at === 0 ? 'M0' : 'H'.concat(String(at), 'V')}${at === 0 ? ` ${y}` : y}`,
  )
  const curve = `${steps.join('')}H${heights.length}`
  return (
    <Chart {...chart} topText={valueText(chart.points, top)}>
      <path class="area" d={`${curve}V100H0Z`} />
      <path class="curve" d={curve} />
    </Chart>
  )
}

function Chart({
  id,
  title,
  says,
  unit,
  points,
  legend,
  topText,
  children,
}: ChartProps & { legend?: string; topText: string; children?: Child }) {
  return (
    <figure class="chart">
      <div class="axis">
        <span>{`${topText} ${unit}`}</span>
      </div>
      <svg
        role="img"
        aria-labelledby={`${id}-title ${id}-says`}
        viewBox={`0 0 ${points.length} 100`}
        preserveAspectRatio="none"
      >
        <title id={`${id}-title`}>{title}</title>
        <desc id={`${id}-says`}>{says}</desc>
        {children}
        <line class="base" x1="0" x2={points.length} y1="100" y2="100" />
      </svg>
      <div class="axis">
        <span>{points[0]?.label}</span>
        <span>{points.at(-1)?.label}</span>
      </div>
      <figcaption class="small quiet">{[says, legend].filter(Boolean).join(' ')}</figcaption>
      <details>
        <summary>Show as a table</summary>
        <Table
          caption={title}
          columns={[
            { label: 'Day', cell: ({ label }) => label },
            { label: unit, cell: ({ text }) => text, isNumber: true },
          ]}
          rows={points.toReversed()}
        />
      </details>
    </figure>
  )
}

function highest(points: readonly Point[]): bigint {
  return points.reduce((most, { value }) => (value > most ? value : most), 0n)
}

function valueText(points: readonly Point[], value: bigint): string {
  return points.find((point) => point.value === value)?.text ?? ''
}

/** Returns the height in percent, to three decimals. */
function share(value: bigint, top: bigint): number {
  return top === 0n ? 0 : Number((value * 100_000n) / top) / 1000
}
