export function Products({ products }: { products: { name: string; title: string }[] }) {
  return (
    <section aria-labelledby="products">
      <h2 id="products">Products that use your profile</h2>
      <div className="card">
        <p>
          Each time you open a product, we send it your name, email address, role and what you can do.
          Products never see your password.
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
