export function Products({ products }: { products: { name: string; title: string }[] }) {
  return (
    <section aria-labelledby="products">
      <h2 id="products">Where your profile is used</h2>
      <div className="card">
        <p>
          These products know you by this profile: your name, e-mail address, role and capabilities, signed by
          us each time you open one. They never see your password.
        </p>
        <ul className="rows">
          {products.map(({ name, title }) => (
            <li key={name}>
              <strong>{title}</strong>
              <a href={`/sso/launch/${name}`}>
                Open<span className="visually-hidden"> {title}</span>
              </a>
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}
