"""Where and when it happens; outlines as `pipeline.captions.lexicon` reads them."""

PLACES = """
outdoors / outside / in the open air
  near the water / by the water
    on the beach / on a beach [common]
    by the river / by a river
    by the lake / beside a lake
    at the harbour / in a harbour
  in the countryside
    in the forest / in a forest [common]
    in the mountains
    in a field / in a meadow
    on a farm
  in the city / in a city
    in the street / on the street [common]
    in a park / in the park [common]
    at the market / at a market
    at a bus stop / at the bus stop
  in the garden / in a garden
indoors / inside / inside a building
  in a house / at home
    in the kitchen / in a kitchen [common]
    in the bedroom / in a bedroom [common]
    in the living room / in a living room
    in the attic
  in a shop / in a store
    in a bakery / in the bakery
    in a bookshop / in the bookshop
    in a supermarket / in the supermarket
  in a school
    in a classroom / in the classroom [common]
    in a gymnasium
  in a library / in the library [common]
  in a restaurant / in the restaurant
  in a museum / at the museum
  in a hospital / at the hospital
"""

TIMES = """
during the day / in the daytime
  in the morning [common]
    at dawn / at sunrise
  at noon / at midday
  in the afternoon [common]
in the evening [common]
  at dusk / at sunset
at night / after dark [common]
  at midnight
"""

DAYS = """
on a weekday / on a working day
  on a Monday / on Monday [common]
  on a Tuesday / on Tuesday
  on a Wednesday / on Wednesday
  on a Thursday / on Thursday
  on a Friday / on Friday
at the weekend / on the weekend
  on a Saturday / on Saturday [common]
  on a Sunday / on Sunday [common]
"""

# Here `|` separates the adjunct from the clause.
WEATHER = """
in bad weather|the weather is bad
  in the rain|it is raining [common]
    in a drizzle|it is drizzling
    in a downpour|it is pouring
  in the snow|it is snowing [common]
  in a hailstorm|it is hailing
  in the fog|it is foggy / in the mist|it is misty
in good weather|the weather is good / in fine weather|the weather is fine
  in the sunshine|it is sunny / under a blue sky|the sky is blue [common]
"""
