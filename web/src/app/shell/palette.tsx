import { Modal, TextInput } from '@mantine/core'
import { type KeyboardEvent, useMemo, useState } from 'react'
import { useText } from '../../i18n/language'
import { useCenters } from '../../queries/centers'
import { useJobs } from '../../queries/jobs'
import { cutOption } from '../../ui/cut_list'
import { navigate } from '../router/location'
import { pathTo } from '../router/match'
import { routes } from '../routes'
import { useSession } from '../session'
import styles from './palette.module.css'
import { type PaletteItem, rank } from './palette_items'

/** Jumps to a page, a center or a job. */
export function Palette({ onClose }: { onClose: () => void }) {
  const t = useText()
  const { may } = useSession()
  const [typed, setTyped] = useState('')
  const [at, setAt] = useState(0)
  const centers = useCenters(may('read_network'))
  const jobs = useJobs({ label: 'job', state: '', project: '' }, 100, may('read_jobs'))

  const items = useMemo<PaletteItem[]>(() => [
    ...routes.flatMap((r) => (r.entry && may(r.permission) ? [{ kind: 'page' as const, href: r.path, name: t(r.entry.title), id: '' }] : [])),
    ...(centers.data ?? []).map((c) => ({ kind: 'center' as const, href: pathTo('/centers/:center', { center: c.name }), name: c.name, id: c.id })),
    ...(jobs.items ?? []).map((j) => ({ kind: 'job' as const, href: pathTo('/jobs/:id', { id: j.id }), name: j.name, id: j.id })),
  ], [centers.data, jobs.items, may, t])
  const found = rank(items, typed)
  // An id that no list holds may still be one: the page says so if not.
  const wanted = typed.trim()
  if (found.length === 0 && /^job_\w+$/.test(wanted)) found.push({ kind: 'job', href: pathTo('/jobs/:id', { id: wanted }), name: wanted, id: '' })
  const current = Math.min(at, found.length - 1)

  function go(item: PaletteItem | undefined) {
    if (!item) return
    onClose()
    navigate(item.href)
  }
  function onKey(event: KeyboardEvent) {
    if (event.key === 'ArrowDown') setAt(Math.min(current + 1, found.length - 1))
    else if (event.key === 'ArrowUp') setAt(Math.max(current - 1, 0))
    else if (event.key === 'Enter') go(found[current])
    else return
    event.preventDefault()
  }

  return (
    <Modal opened onClose={onClose} withCloseButton={false} padding={0} yOffset="12vh" centered={false} aria-label={t('shell.palette.label')}>
      <TextInput data-autofocus value={typed} onKeyDown={onKey} autoComplete="off" spellCheck={false} size="sm" variant="unstyled"
        className={styles.input ?? ''} role="combobox" aria-expanded="true" aria-controls="palette-list" aria-label={t('shell.palette.label')}
        aria-activedescendant={found[current] ? `palette-${current}` : ''} placeholder={t('shell.palette.hint')}
        onChange={(event) => {
          setTyped(event.currentTarget.value)
          setAt(0)
        }} />
      <ul id="palette-list" role="listbox" aria-label={t('shell.palette.label')} className={styles.list}>
        {found.map((item, i) => (
          // The keyboard works on the input, which names the active option.
          // eslint-disable-next-line jsx-a11y/click-events-have-key-events
          <li key={item.href} id={`palette-${i}`} role="option" aria-selected={i === current} className={styles.option} onClick={() => go(item)}>
            <span>{item.name}</span>
            <span className="dim">{item.id || t(`shell.palette.${item.kind}`)}</span>
          </li>
        ))}
      </ul>
      <p role="status" className={styles.none}>{found.length === 0 ? [t('shell.palette.none'), ...cutOption(t, centers).map((cut) => `${t('centers.title')}: ${cut.label}`)].join('. ') : ''}</p>
    </Modal>
  )
}
