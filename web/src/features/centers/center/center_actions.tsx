import { Button, Group, Modal } from '@mantine/core'
import { useState } from 'react'
import { useText } from '../../../i18n/language'
import { type Center, useDrainCenter, useReleaseCenter, useRevokeCenter } from '../../../queries/centers'
import { ConfirmByTyping } from '../../../ui/confirm_by_typing'
import { ErrorState } from '../../../ui/states'

export function CenterActions({ center }: { center: Center }) {
  const t = useText()
  const [asking, setAsking] = useState<'drain' | 'revoke' | null>(null)
  const drain = useDrainCenter()
  const release = useReleaseCenter()
  const revoke = useRevokeCenter()
  function close() {
    drain.reset()
    revoke.reset()
    setAsking(null)
  }
  if (center.revoked_at) return null
  return (
    <>
      {center.quarantined_at ? <Button loading={release.isPending} onClick={() => release.mutate(center.id)}>{t('centers.release')}</Button> : null}
      {center.drained
        ? <Button loading={drain.isPending} onClick={() => drain.mutate({ center, drained: false })}>{t('centers.undrain')}</Button>
        : <Button onClick={() => setAsking('drain')}>{t('centers.drain')}</Button>}
      <Button onClick={() => setAsking('revoke')}>{t('centers.revoke')}</Button>
      {release.error || (asking === null && drain.error) ? <ErrorState error={release.error ?? drain.error} /> : null}
      <Modal opened={asking === 'drain'} onClose={close} title={t('centers.drain.title', { name: center.name })} closeButtonProps={{ 'aria-label': t('ui.close') }}>
        <p>{t('centers.drain.text')}</p>
        {drain.error ? <ErrorState error={drain.error} /> : null}
        <Group mt="md" gap="xs" justify="flex-end">
          <Button onClick={close} data-autofocus>{t('ui.cancel')}</Button>
          <Button variant="filled" loading={drain.isPending} onClick={() => drain.mutate({ center, drained: true }, { onSuccess: close })}>{t('centers.drain.do')}</Button>
        </Group>
      </Modal>
      <ConfirmByTyping opened={asking === 'revoke'} title={t('centers.revoke.title', { name: center.name })} target={center.name}
        action={t('centers.revoke.do')} busy={revoke.isPending} error={revoke.error} onClose={close}
        onConfirm={() => revoke.mutate(center.id, { onSuccess: close })}>
        <p>{t('centers.revoke.text')}</p>
      </ConfirmByTyping>
    </>
  )
}
