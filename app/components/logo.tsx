/** On a dark page, the logo of `logoDarkPath` stands instead, if there is one. Nothing without a logo. */
export function Logo({ logoPath, logoDarkPath, name = '' }: LogoProps) {
  if (!logoPath) return null;
  return (
    <picture>
      {logoDarkPath && <source srcSet={logoDarkPath} media="(prefers-color-scheme: dark)" />}
      <img src={logoPath} alt={name} />
    </picture>
  );
}

type LogoProps = {
  logoPath: string | undefined;
  logoDarkPath: string | undefined;
  /** The text of the logo, if it does not stand beside it. */
  name?: string;
};
