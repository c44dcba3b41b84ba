import { useFormAction } from '@remix-run/react';

/** Below a page that says that a mail is on its way: the same request again, or the form with the address in it. */
export function SendAgain({ formPath }: { formPath: string }) {
  return (
    <>
      <form method="post" action={useFormAction()} className="aside">
        <button type="submit" name="intent" value="again" className="secondary">
          Send it again
        </button>
      </form>
      <p className="aside">
        <a href={formPath}>Use another address</a>
      </p>
    </>
  );
}
