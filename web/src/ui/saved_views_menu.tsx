import { Button, Group, Menu, Modal, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { navigate, useSearch } from '../app/router/location'
import { readStored, store } from '../app/storage'
import { useText } from '../i18n/language'
import { isShown, longestViewName, mostViews, readViews, type SavedView, withoutView, withView } from './saved_views'

interface Props {
  /** The table's name. */
  table: string
  hidden: ReadonlySet<string>
  onHide: (hidden: ReadonlySet<string>) => void
}

/** Filters and columns under a name, kept in this browser for the table. */
export function SavedViewsMenu({ table, hidden, onHide }: Props) {
  const t = useText()
  const search = useSearch()
  const [views, setViews] = useState(() => readViews(readStored(`views.${table}`)))
  const [isNaming, setNaming] = useState(false)
  const shown = views.find((view) => isShown(view, search, hidden))

  function keep(next: SavedView[]) {
    store(`views.${table}`, JSON.stringify(next))
    setViews(next)
  }
  function show(view: SavedView) {
    onHide(new Set(view.hidden))
    navigate(window.location.pathname + view.search)
  }

  return (
    <>
      <Menu position="bottom-end" transitionProps={{ duration: 0 }}>
        <Menu.Target><Button>{shown ? t('ui.view', { name: shown.name }) : t('ui.views')}</Button></Menu.Target>
        <Menu.Dropdown>
          {views.map((view) => (
            <Menu.RadioItem key={view.name} value={view.name} checked={view === shown} closeMenuOnClick onChange={() => show(view)}>
              {view.name}
            </Menu.RadioItem>
          ))}
          {views.length > 0 ? <Menu.Divider /> : null}
          <Menu.Item disabled={views.length >= mostViews} onClick={() => setNaming(true)}>{t('ui.views.save')}</Menu.Item>
          {shown ? <Menu.Item onClick={() => keep(withoutView(views, shown.name))}>{t('ui.views.remove', { name: shown.name })}</Menu.Item> : null}
        </Menu.Dropdown>
      </Menu>
      {isNaming ? (
        <NameView taken={views} onClose={() => setNaming(false)} onName={(name) => {
          keep(withView(views, { name, search, hidden: [...hidden] }))
          setNaming(false)
        }} />
      ) : null}
    </>
  )
}

function NameView({ taken, onName, onClose }: { taken: readonly SavedView[]; onName: (name: string) => void; onClose: () => void }) {
  const t = useText()
  const [typed, setTyped] = useState('')
  const name = typed.trim()
  const isTaken = taken.some((view) => view.name === name)
  function submit(event: FormEvent) {
    event.preventDefault()
    if (name) onName(name)
  }
  return (
    <Modal opened onClose={onClose} title={t('ui.views.save')} closeButtonProps={{ 'aria-label': t('ui.close') }}>
      <form onSubmit={submit}>
        <TextInput data-autofocus autoComplete="off" label={t('ui.views.name')} description={t(isTaken ? 'ui.views.replaces' : 'ui.views.where')}
          maxLength={longestViewName} value={typed} onChange={(e) => setTyped(e.currentTarget.value)} />
        <Group mt="md" gap="xs" justify="flex-end">
          <Button onClick={onClose}>{t('ui.cancel')}</Button>
          <Button type="submit" variant="filled" disabled={name === ''}>{t('ui.save')}</Button>
        </Group>
      </form>
    </Modal>
  )
}
