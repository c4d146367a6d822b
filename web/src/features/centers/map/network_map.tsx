import { useMediaQuery } from '@mantine/hooks'
import { Link } from '../../../app/router/link'
import { pathTo } from '../../../app/router/match'
import { useText } from '../../../i18n/language'
import { formatByteRate } from '../../../ui/rates'
import { toneOf } from '../health'
import type { MapCenter } from './map_center'
import { cutText, hubReach, layOut, layOutNarrow, lineWidth, type Spot } from './map_layout'
import styles from './network_map.module.css'

// On a narrower screen one of the two sides would be out of sight.
const narrowScreen = '(max-width: 760px)'
const longestName = 30

/** Centers around the network that they are joined to. Each is a link to its page; the table below the map says the same in words. */
export function NetworkMap({ centers }: { centers: readonly MapCenter[] }) {
  const t = useText()
  const isNarrow = useMediaQuery(narrowScreen, undefined, { getInitialValueInEffect: false })
  const { width, height, middle, trunk, spots } = isNarrow ? layOutNarrow(centers.length) : layOut(centers.length)
  const greatest = Math.max(0, ...centers.map((center) => center.link?.rateBytes ?? 0))
  const drawn = centers.flatMap((center, i) => {
    const spot = spots[i]
    return spot ? [{ center, spot }] : []
  })
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls must be reachable by keyboard
    <div className={styles.frame} role="region" aria-label={t('centers.map')} tabIndex={0}>
      <svg className={`${styles.map} ${isNarrow ? styles.narrow : ''}`} viewBox={`0 0 ${width} ${height}`} role="group" aria-label={t('centers.map.centers')}>
        {trunk ? <line aria-hidden="true" className={styles.line} x1={trunk.from.x} y1={trunk.from.y} x2={trunk.to.x} y2={trunk.to.y} /> : null}
        {drawn.map(({ center, spot }) => (
          <line key={center.id} aria-hidden="true" x1={spot.from.x} y1={spot.from.y} x2={spot.x} y2={spot.y}
            strokeWidth={center.link ? lineWidth(center.link.rateBytes, greatest) : 1}
            className={`${styles.line} ${center.link ? styles.timed : ''} ${center.isConnected ? '' : styles.silent}`} />
        ))}
        {drawn.map(({ center, spot }) => (center.link ? (
          <text key={center.id} aria-hidden="true" className={styles.rate} textAnchor="middle"
            x={spot.rateAt.x} y={spot.rateAt.y + 4}>{formatByteRate(center.link.rateBytes)}</text>
        ) : null))}
        <g>
          <rect className={styles.hub} x={middle.x - hubReach.x} y={middle.y - hubReach.y} width={2 * hubReach.x} height={2 * hubReach.y} rx={4} />
          <text className={styles.name} textAnchor="middle" x={middle.x} y={middle.y - 3}>{t('centers.map.network')}</text>
          <text className={styles.more} textAnchor="middle" x={middle.x} y={middle.y + 13}>
            {t('centers.map.connected', { n: centers.filter((center) => center.isConnected).length, all: centers.length })}
          </text>
        </g>
        {drawn.map(({ center, spot }) => <Node key={center.id} center={center} spot={spot} width={width} />)}
      </svg>
    </div>
  )
}

function Node({ center, spot: { x, y, side }, width }: { center: MapCenter; spot: Spot; width: number }) {
  const t = useText()
  const isLeft = side === 'left'
  const text = { textAnchor: isLeft ? 'end' : 'start', x: isLeft ? x - 14 : x + 14 } as const
  const state = t('centers.map.state', { health: t(`centers.state.${center.health}`), used: center.used, all: center.all })
  const way = center.link ? formatByteRate(center.link.rateBytes) : t(center.link === null ? 'centers.map.untimed' : 'centers.map.unread')
  return (
    <Link className={styles.node} href={pathTo('/centers/:center', { center: center.name })}>
      <title>{`${center.name}: ${state}, ${way}`}</title>
      <rect className={styles.hit} x={isLeft ? 4 : x - 12} y={y - 20} width={isLeft ? x + 8 : width - x + 8} height={40} rx={4} />
      <Mark health={center.health} x={x} y={y} />
      <text className={styles.name} {...text} y={y - 3}>{cutText(center.name, longestName)}</text>
      <text className={styles.more} {...text} y={y + 13}>{state}</text>
    </Link>
  )
}

/** The form says the same as the colour, as in lists. */
function Mark({ health, x, y }: { health: MapCenter['health']; x: number; y: number }) {
  const tone = toneOf(health)
  const shape = `${styles.mark} ${styles[tone] ?? ''}`
  if (tone === 'warn' || tone === 'bad') return <rect className={shape} x={x - 6} y={y - 6} width={12} height={12} />
  return <circle className={`${shape} ${tone === 'idle' ? styles.hollow : ''}`} cx={x} cy={y} r={tone === 'idle' ? 5 : 6} />
}
